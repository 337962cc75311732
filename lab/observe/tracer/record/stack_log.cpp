// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/stack_log.hpp"

#include <algorithm>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>

#include "observe/tracer/record/settings.hpp"

// The linker defines them: where this library begins and ends.
extern "C" {
__attribute__((visibility("hidden"))) extern const char __ehdr_start[]; // NOLINT: the linker's name
__attribute__((visibility("hidden"))) extern const char _end[];         // NOLINT: the linker's name
}

namespace tenure::lab::tracer {

namespace {

/// Frames of this library: those of the recorder, of malloc, and of operator new around the C++ library's.
constexpr std::size_t max_own_frames = 6;

[[nodiscard]] bool is_own(const void* frame) noexcept {
    return address_of(frame) - address_of(__ehdr_start) < address_of(_end) - address_of(__ehdr_start);
}

void write_stack(thread_log& log, std::uint32_t number, void* const* frames, std::size_t count) noexcept {
    log.other(trace_format::other_event::stack);
    log.number(number);
    log.number(count);
    std::uintptr_t before = 0;
    for (std::size_t index = 0; index < count; ++index) {
        log.signed_number(static_cast<std::int64_t>(address_of(frames[index]) - before));
        before = address_of(frames[index]);
    }
    log.end_event();
}

}

std::uint32_t number_stack(thread_log& log) noexcept {
    constexpr std::size_t max_number_bytes = 10;
    void* frames[max_stack_frames + max_own_frames];
    std::size_t count = host::walk_stack(frames, chosen.stack_frames + max_own_frames);
    count = static_cast<std::size_t>(std::remove_if(frames, frames + count, is_own) - frames);
    count = std::min<std::size_t>(count, chosen.stack_frames);
    if (count == 0) return 0;
    process_state& state = *state_of_process.load(std::memory_order_relaxed);
    bool is_new = false;
    stack_table::place* const place = state.stacks.find(stack_table::hash_of(frames, count), is_new);
    if (place == nullptr) return 0;
    if (!is_new) {
        const std::uint32_t known = place->number.load(std::memory_order_acquire);
        if (known != 0) return known;
    }
    if (!log.begin_event((count + 3) * max_number_bytes)) return 0;
    const std::uint32_t number = std::atomic_ref(state.head->stacks).fetch_add(1, std::memory_order_relaxed) + 1;
    write_stack(log, number, frames, count);
    place->number.store(number, std::memory_order_release);
    return number;
}

}
