// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Records each allocation of the process.

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/observer.hpp>
#include <tenure/heap/detail/guarded/sample_schedule.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/platform/clock.hpp>

#include "observe/blocks/interpose/real.hpp"
#include "observe/blocks/interpose/recorded.hpp"
#include "observe/tracer/record/stack_log.hpp"
#include "observe/tracer/record/thread_log.hpp"

namespace tenure::lab::blocks {

namespace format = trace_format;
using tracer::state_of_process;
using tracer::thread_log;
using tracer::token;
using tracer::token_map;

namespace {

void leave_thread() noexcept;
constinit thread_local thread_log mine{&leave_thread};
void leave_thread() noexcept { mine.leave(); }

[[nodiscard]] token_map& tokens() noexcept { return state_of_process.load(std::memory_order_relaxed)->tokens; }

void write_allocation(thread_log& log, request asked, std::uint32_t stack) noexcept {
    constexpr format::event_kind kinds[] = {format::event_kind::malloc, format::event_kind::zeroed,
                                            format::event_kind::aligned, format::event_kind::operator_new,
                                            format::event_kind::aligned};
    log.event(kinds[static_cast<std::size_t>(asked.from)], asked.bytes);
    if (asked.from == family::aligned || asked.from == family::aligned_new) {
        const unsigned form = asked.from == family::aligned_new ? unsigned{format::aligned_is_new} : 0;
        log.byte(static_cast<std::uint8_t>(asked.alignment_log2 | form));
    }
    if (tracer::chosen.stack_frames != 0) log.number(stack);
}

/// Whether the sample leaves out a block of this size, or one that has grown by it. A block is kept with the
/// probability 1 - exp(-s / mean).
[[nodiscard]] bool is_left_out(thread_log& log, std::size_t bytes) noexcept {
    const std::uint64_t mean = tracer::chosen.sample_bytes;
    if (mean == 0) return false;
    const auto draw = [&]() noexcept {
        return detail::sampling::minus_log(detail::sample_schedule::random()) * static_cast<double>(mean);
    };
    if (!log.has_sample) log.sample_bytes = draw();
    log.has_sample = true;
    log.sample_bytes -= static_cast<double>(bytes);
    if (log.sample_bytes >= 0) return true;
    log.sample_bytes = draw();
    return false;
}

[[nodiscard]] std::uint32_t stack_of_free(thread_log& log) noexcept {
    return tracer::chosen.has_free_stacks ? tracer::number_stack(log) : 0;
}

void write_free(thread_log& log, token name, std::uint32_t stack) noexcept {
    log.free(name);
    if (tracer::chosen.has_free_stacks) log.number(stack);
}

/// A block that is in the map when its address is allocated again was freed by a call that was not seen.
void write_unseen_free(thread_log& log, token name) noexcept {
    log.other(format::other_event::unseen_free);
    log.name(name);
    log.end_event();
}

void count_unknown(thread_log& log) noexcept {
    if (!log.begin_event(thread_log::event_bytes)) return;
    log.last_block = nullptr;
    log.other(format::other_event::unknown_free);
    log.end_event();
}

/// Takes a name that was in the map off the list of blocks in use. Returns   it.
[[nodiscard]] token unlisted(const void* block, token of_map) noexcept {
    const token name = tracer::name_in(of_map);
    if (name != of_map) [[unlikely]]
        state_of_process.load(std::memory_order_relaxed)->listed->remove(address_of(block), name);
    return name;
}

/// Takes a block's name out of the map. Returns   zero if it is not known.
[[nodiscard]] token take(const void* block) noexcept {
    token_map::slot* const slot = tokens().find(block);
    if (slot == nullptr) return 0;
    const token name = slot->load(std::memory_order_relaxed);
    if (name != 0) slot->store(0, std::memory_order_relaxed);
    return unlisted(block, name);
}

/// Puts a name into the map, and maybe on the list of blocks in use.
void keep(token_map::slot& slot, token name, const void* block, std::uint32_t stack, std::size_t bytes) noexcept {
    tracer::process_state& state = *state_of_process.load(std::memory_order_relaxed);
    live_blocks* const listed = state.listed;
    if (listed != nullptr) [[unlikely]] {
        const std::uint32_t ordinal = state.allocated.next(stack);
        if (listed->add_sampled(address_of(block), name, platform::ticks(), stack, ordinal, bytes))
            name |= tracer::is_listed;
    }
    slot.store(name, std::memory_order_relaxed);
}

}

namespace {

/// `drawn_bytes`: what the sample counts.
void note_drawn(const void* block, request asked, std::size_t drawn_bytes) noexcept {
    thread_log& log = mine;
    if (block == nullptr || !log.begins()) return;
    const thread_log::busy_scope busy(log);
    if (block == log.last_block && asked.from >= family::operator_new) {
        log.go_back(log.last_place);
        write_allocation(log, asked, log.last_stack);
        log.end_event();
        return;
    }
    if (block == log.last_left_out && asked.from >= family::operator_new) return;
    log.last_left_out = nullptr;
    if (is_left_out(log, drawn_bytes)) {
        log.last_left_out = block;
        log.last_block = nullptr;
        return;
    }
    token_map::slot* const slot = tokens().make(block);
    const std::uint32_t stack = tracer::chosen.stack_frames != 0 ? tracer::number_stack(log) : 0;
    if (slot == nullptr || !log.begin_event(thread_log::event_bytes)) {
        if (slot == nullptr) log.lose(ENOMEM);
        log.last_left_out = block; // the operator new around this call would be counted as lost once more
        return;
    }
    if (const token before = slot->load(std::memory_order_relaxed); before != 0)
        write_unseen_free(log, unlisted(block, before));
    log.last_block = block;
    log.last_place = log.place();
    log.last_stack = stack;
    write_allocation(log, asked, log.last_stack);
    keep(*slot, log.take_name(), block, stack, asked.bytes);
    log.end_event();
}

}

void note_block(const void* block, request asked) noexcept { note_drawn(block, asked, asked.bytes); }

// A malloc's own operator new may serve a block at the address of an earlier one, whose event must stay as it is.
void begin_new() noexcept {
    mine.last_block = nullptr;
    mine.last_left_out = nullptr;
}

std::size_t forget_block(const void* block) noexcept {
    thread_log& log = mine;
    if (!log.begins()) return 0;
    const thread_log::busy_scope busy(log);
    const token name = take(block);
    if (name == 0) {
        // Of a sample, most blocks are not in the map.
        if (block != log.last_freed && tracer::chosen.sample_bytes == 0) count_unknown(log);
        log.last_freed = block; // operator delete may call free
        return 0;
    }
    log.last_freed = block;
    const std::uint32_t stack = stack_of_free(log);
    if (!log.begin_event(thread_log::event_bytes)) return 0;
    log.last_block = nullptr;
    write_free(log, name, stack);
    log.end_event();
    return 0;
}

void note_freed(const void*, std::size_t) noexcept { mine.last_freed = nullptr; }

namespace {

// Tokens are larger. What end_resize() takes is either the token of a block, or the bytes of one that the sample has
// left out.
constexpr std::uint64_t least_token = std::uint64_t{1} << tracer::number_bits;

/// The size of a block that the sample has left out: it was drawn with it.
[[nodiscard]] std::uint64_t bytes_left_out(thread_log& log, const void* block) noexcept {
    auto* const function = real<std::size_t(const void*)>(call::malloc_usable_size);
    if (function == nullptr) return 0;
    const thread_log::busy_scope busy(log); // tcmalloc allocates in the first call
    const std::size_t bytes = function(block);
    return bytes < least_token ? bytes : least_token - 1;
}

void note_unknown_free() noexcept {
    thread_log& log = mine;
    if (tracer::chosen.sample_bytes != 0 || !log.begins()) return;
    const thread_log::busy_scope busy(log);
    count_unknown(log);
}

}

std::uint64_t begin_resize(const void* block) noexcept {
    thread_log& log = mine;
    if (block == nullptr || !log.begins()) return 0;
    const token name = take(block);
    return name == 0 && tracer::chosen.sample_bytes != 0 ? bytes_left_out(log, block) : name;
}

void end_resize(std::uint64_t before, const void* block, const void* answer, std::size_t bytes) noexcept {
    if (before < least_token) {
        // Not forget_block(): another thread may have the address by now.
        if (block != nullptr && (answer != nullptr || bytes == 0)) note_unknown_free();
        return note_drawn(answer, {bytes}, bytes - std::min<std::uint64_t>(bytes, before));
    }
    thread_log& log = mine;
    if (!log.begins()) return;
    const thread_log::busy_scope busy(log);
    if (answer == nullptr && bytes != 0) {
        if (token_map::slot* const slot = tokens().find(block)) slot->store(before, std::memory_order_relaxed);
        return;
    }
    const bool has_stack = answer != nullptr ? tracer::chosen.stack_frames != 0 : tracer::chosen.has_free_stacks;
    const std::uint32_t stack = has_stack ? tracer::number_stack(log) : 0;
    if (!log.begin_event(thread_log::event_bytes)) return;
    log.last_block = nullptr;
    token_map::slot* const slot = answer == nullptr ? nullptr : tokens().make(answer);
    if (slot == nullptr) {
        if (answer != nullptr) log.lose(ENOMEM);
        write_free(log, before, stack);
    } else {
        if (const token there = slot->load(std::memory_order_relaxed); there != 0)
            write_unseen_free(log, unlisted(answer, there));
        log.event(format::event_kind::resize, bytes);
        log.name(before);
        if (tracer::chosen.stack_frames != 0) log.number(stack);
        keep(*slot, log.take_name(), answer, stack, bytes);
    }
    log.end_event();
}

namespace {

/// The program has called next_frame().
void note_frame() {
    thread_log& log = mine;
    if (!log.begins()) return;
    const thread_log::busy_scope busy(log);
    if (!log.begin_event(thread_log::event_bytes)) return;
    log.last_block = nullptr;
    log.other(format::other_event::frame);
    log.end_event();
}

/// A mark of the name "frame" ends a frame too, in programs that have frames and no next_frame().
void note_mark(const char* name, std::size_t bytes) {
    if (std::string_view(name, bytes) == "frame") return note_frame();
    constexpr std::size_t max_bytes = 256;
    thread_log& log = mine;
    if (!log.begins()) return;
    const thread_log::busy_scope busy(log);
    const std::size_t kept = bytes < max_bytes ? bytes : max_bytes;
    if (!log.begin_event(thread_log::event_bytes + kept)) return;
    log.last_block = nullptr;
    log.other(format::other_event::mark);
    log.number(kept);
    for (std::size_t index = 0; index < kept; ++index) log.byte(static_cast<std::uint8_t>(name[index]));
    log.end_event();
}

// A look-up that fails allocates: a block that is not the program's.
__attribute__((constructor)) void set_up() noexcept {
    thread_log& log = mine;
    const bool begins = log.begins();
    const thread_log::busy_scope busy(log);
    find_all();
    if (begins) tracer::write_texts();
}

// Runs after the program's own destructors.
__attribute__((destructor(101))) void end() noexcept {
    thread_log& log = mine;
    if (!log.begins()) return;
    const thread_log::busy_scope busy(log);
    tracer::write_texts();
    tracer::note_exit();
}

}

}

extern "C" {

extern const tenure_observer_table tenure_observer; // without this declaration the constant would have internal linkage
const tenure_observer_table tenure_observer = {
    sizeof(tenure_observer_table),
    tenure_observer_version,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    tenure::lab::blocks::note_mark,
    nullptr,
    nullptr,
    tenure::lab::blocks::note_frame,
};
}
