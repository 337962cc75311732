// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Wrappers that call the real function and record the call when the thread is in a region.

#include <cstdint>
#include <type_traits>

#include "observe/hook/interpose/real.hpp"
#include "observe/hook/record/recorder.hpp"

namespace tenure::lab::hook {

constexpr bool is_wait(call_group group) {
    return group == call_group::lock || group == call_group::sleep || group == call_group::input ||
           group == call_group::runtime;
}
/// Calls made inside these are hidden: operator new calls malloc, and for a lock that waits with a futex users know the
/// lock, not the futex.
constexpr bool hides_what_is_inside(call which) {
    const call_group group = info(which).group;
    return group == call_group::allocation || group == call_group::release || group == call_group::mapping ||
           which == call::tbb_wait_on_address;
}

/// Files, sockets and processes: a call that returns at once because data was ready is not a wait.
constexpr bool may_be_quick(call_group group) { return group == call_group::input; }

/// Records the time that a call took. Its destructor does not run on thread cancellation: the hook is built without
/// exceptions.
template<call Which>
class noted_call {
public:
    [[gnu::always_inline]] explicit noted_call(const place& from, std::uint64_t bytes = 0,
                                               const void* object = nullptr) noexcept
        : from_(from), bytes_(bytes), object_(object), active_(this_thread.active), waited_(this_thread.waited) {
        if constexpr (hides_what_is_inside(Which)) this_thread.active = 0;
        begin_ = ticks();
        if constexpr (is_wait(info(Which).group)) note_waiting(Which, from, begin_, object);
    }
    [[gnu::always_inline]] ~noted_call() {
        const std::uint64_t end = ticks();
        const std::uint64_t nested = this_thread.waited - waited_; // a wait inside the call records itself
        if constexpr (hides_what_is_inside(Which)) this_thread.active = active_;
        if constexpr (may_be_quick(info(Which).group)) {
            note_input(Which, from_, begin_ + nested, end);
        } else if constexpr (is_wait(info(Which).group)) {
            note_wait(Which, from_, begin_ + nested, end, object_, 0);
        } else {
            note_call(Which, from_, begin_ + nested, end, bytes_);
        }
    }
    /// Called after the call returned, because a call that throws allocates nothing.
    void add_bytes(std::uint64_t bytes) noexcept { bytes_ += bytes; }
    noted_call(const noted_call&) = delete;
    noted_call& operator=(const noted_call&) = delete;

private:
    place from_;
    std::uint64_t bytes_;
    const void* object_;
    std::uint32_t active_;
    std::uint64_t waited_;
    std::uint64_t begin_;
};

/// Calls and records a function. `Signature` is the function's own type, as its header declares it.
template<call Which, class Signature, class... Arguments>
[[gnu::always_inline]] inline auto observed(const place& from, Arguments... arguments) {
    auto* const function = real<Signature>(Which);
    if (!is_active()) [[likely]]
        return function(arguments...);
    const noted_call<Which> note(from);
    return function(arguments...);
}

[[nodiscard]] inline bool is_refusal(const void* answer) noexcept {
    return answer == nullptr || reinterpret_cast<std::intptr_t>(answer) == -1; // mmap returns -1 when it fails
}
[[nodiscard]] inline bool is_refusal(int answer) noexcept { return answer != 0; }

/// The same for a call that allocates `bytes` if it succeeds.
template<call Which, class Signature, class... Arguments>
[[gnu::always_inline]] inline auto observed_allocation(const place& from, std::uint64_t bytes, Arguments... arguments) {
    auto* const function = real<Signature>(Which);
    if (!is_active()) [[likely]]
        return function(arguments...);
    noted_call<Which> note(from);
    const auto answer = function(arguments...);
    if (!is_refusal(answer)) note.add_bytes(bytes);
    return answer;
}

/// The same for a call that waits for `object`.
template<call Which, class Signature, class... Arguments>
[[gnu::always_inline]] inline auto observed_wait(const place& from, const void* object, Arguments... arguments) {
    auto* const function = real<Signature>(Which);
    if (!is_active()) [[likely]]
        return function(arguments...);
    const noted_call<Which> note(from, 0, object);
    return function(arguments...);
}

}
