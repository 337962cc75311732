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

/// The number of a stack that was walked; zero if it cannot be written.
[[nodiscard]] std::uint32_t number_of(thread_log& log, void* const* frames, std::size_t count) noexcept {
    constexpr std::size_t max_number_bytes = 10;
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
    note_code(frames, count);
    return number;
}

}

std::uint32_t number_stack(thread_log& log) noexcept {
    void* frames[known_stack::capacity];
    std::uintptr_t places[known_stack::capacity];
    const auto begin = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    known_stacks* const known = log.known_stacks_of_thread();
    if (known != nullptr) {
        known_stack* const row = known->row_of(begin);
        for (std::size_t way = 0; way < known_stacks::ways; ++way)
            if (row[way].is_there(begin, log.readable_stack)) return row[way].number;
    }
    const std::size_t walked =
        host::walk_stack(frames, chosen.stack_frames + max_own_frames, log.readable_stack, places);
    known_stack* const kept = known == nullptr ? nullptr : &known->next(begin);
    // The first frame is this function's, whose place is in the frame of the walk.
    const std::size_t first = 1;
    if (kept != nullptr && walked > first) {
        kept->begin = 0;
        kept->count = static_cast<std::uint32_t>(walked - first);
        for (std::size_t index = first; index < walked; ++index) {
            kept->places[index - first] = places[index];
            kept->frames[index - first] = address_of(frames[index]);
        }
    }
    std::size_t count = static_cast<std::size_t>(std::remove_if(frames, frames + walked, is_own) - frames);
    count = std::min<std::size_t>(count, chosen.stack_frames);
    const std::uint32_t number = count == 0 ? 0 : number_of(log, frames, count);
    if (kept != nullptr && number != 0) {
        kept->number = number;
        kept->begin = begin;
    }
    return number;
}

}
