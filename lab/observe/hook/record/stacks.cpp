// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Walks call stacks. _Unwind_Backtrace() of gcc 12 and newer finds its tables without a lock if the C library is 2.35
/// or newer.

#include "observe/hook/record/stacks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>

#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/patch/patches.hpp"

namespace tenure::lab::hook {

using detail::mix;
using detail::raw_of;
using detail::read;
using detail::row_of;
using detail::slots_of;

namespace {

constexpr std::uintptr_t largest_frame = std::uintptr_t{1} << 20U; // limit of a frame when walking frame pointers
constexpr int frame_pointer = 6;                                   // number of rbp in x86-64 unwind tables

/// A walked stack. The first return address is that of the interposed function, whose slot is known.
struct walked_stack {
    std::uint32_t count = 0;
    bool is_exact = true; // every return address was found in its slot
    std::uintptr_t address[max_frames];
    std::uintptr_t slot[max_frames];
};

/// Adds a frame. Returns   false when the stack is full.
bool take(walked_stack& stack, std::uintptr_t address, std::uintptr_t slot, bool is_exact) noexcept {
    if (const std::uintptr_t real = is_exact ? replaced_return(address, slot) : 0) address = real;
    stack.address[stack.count] = address;
    stack.slot[stack.count] = slot;
    stack.is_exact = stack.is_exact && is_exact;
    return ++stack.count < max_frames;
}

struct table_walk {
    walked_stack* stack;
    const place* from;
    std::uintptr_t pointer = 0; // frame pointer of the last frame
    bool has_begun = false;
    bool is_above_ours = false; // the previous frame was tenure_hook_return, one word larger
};

_Unwind_Reason_Code take_table_frame(_Unwind_Context* context, void* data) noexcept {
    auto& walk = *static_cast<table_walk*>(data);
    int is_interrupted = 0; // by a signal: no call has stored a return address there
    const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
    const std::uintptr_t slot = _Unwind_GetCFA(context) - (walk.is_above_ours ? 2 : 1) * sizeof(std::uintptr_t);
    walk.is_above_ours = is_return_of_ours(address);
    if (!walk.has_begun) { // still inside the hook
        if (slot < walk.from->frame + sizeof(std::uintptr_t)) return _URC_NO_REASON;
        walk.has_begun = true;
    }
    if (address == 0) return _URC_END_OF_STACK;
    if (walk.is_above_ours) return _URC_NO_REASON; // the real return address comes next
    walk.pointer = static_cast<std::uintptr_t>(_Unwind_GetGR(context, frame_pointer));
    // Frames above the thread's first function only started the thread.
    if (slot >= this_thread.stack_top && is_on_own_stack(walk.from->frame)) return _URC_END_OF_STACK;
    const bool is_readable = is_interrupted == 0 && slot >= walk.from->frame && is_on_own_stack(slot);
    const std::uintptr_t found = is_readable ? read(slot) : 0;
    const bool is_exact = is_readable && (found == address || replaced_return(found, slot) == address);
    return take(*walk.stack, address, slot, is_exact) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Continues with frame pointers: code generated at run time has no unwind tables but keeps frame pointers.
void walk_frames(walked_stack& stack, std::uintptr_t pointer, std::uintptr_t above) noexcept {
    const std::uintptr_t top = this_thread.stack_top;
    while (pointer > above && pointer % sizeof(std::uintptr_t) == 0 && pointer - above < largest_frame &&
           pointer + 2 * sizeof(std::uintptr_t) <= top && stack.count < max_frames) {
        const std::uintptr_t slot = pointer + sizeof(std::uintptr_t);
        const std::uintptr_t address = read(slot);
        constexpr std::uintptr_t lowest_code = 4096;
        if (address < lowest_code || !take(stack, address, slot, true)) return;
        above = pointer;
        pointer = read(pointer);
    }
}

void walk_tables(walked_stack& stack, const place& from) noexcept {
    table_walk walk{&stack, &from};
    _Unwind_Backtrace(take_table_frame, &walk);
    if (stack.count == 0) {
        static_cast<void>(take(stack, from.caller, from.frame + sizeof(std::uintptr_t), true));
        return;
    }
    // The unwind tables ended in the middle of the stack: the last address is in code without tables.
    const bool has_room = this_thread.area->stack_words < max_stack_words / 2;
    if (has_room && stack.is_exact && stack.count < max_frames && !is_in_module(stack.address[stack.count - 1])) {
        walk_frames(stack, walk.pointer, stack.slot[stack.count - 1]);
    }
}

// Unwinding needs some kilobytes of stack, which a small stack may not have.
constexpr std::uintptr_t unwinders_bytes = std::uintptr_t{16} << 10U;

void walk(walked_stack& stack, const place& from) noexcept {
    // On a stack that the program allocated itself, the memory above its first frame is unknown.
    const bool is_own = is_on_own_stack(from.frame);
    const bool has_space = is_own && from.frame - this_thread.stack_low >= unwinders_bytes;
    if (chosen.stacks == stack_mode::tables && has_space) return walk_tables(stack, from);
    const std::uintptr_t slot = from.frame + sizeof(std::uintptr_t);
    if (!take(stack, from.caller, slot, read(slot) == from.caller)) return;
    if (chosen.stacks == stack_mode::frames && is_own) walk_frames(stack, read(from.frame), from.frame);
}

// Generated code without frame pointers looks like ever new stacks. Past this limit only the caller is stored.
constexpr std::uint32_t max_words_of_whole_stacks = max_stack_words / 8 * 7;

[[nodiscard]] std::uint32_t keep(thread_area& area, const walked_stack& stack, const place& from) noexcept {
    const std::uint32_t needed = 1 + 2 * stack.count + (stack.count + 1) / 2;
    const std::uint32_t room = stack.count > 1 ? max_words_of_whole_stacks : max_stack_words;
    if (area.stack_words + needed > room) {
        ++area.lost_stacks;
        return 0;
    }
    const std::uint32_t index = std::max<std::uint32_t>(area.stack_words, 1); // 0 means no stack
    std::uint64_t* const words = area.stack + index;
    words[0] = stack.count;
    for (std::uint32_t frame = 0; frame < stack.count; ++frame) {
        words[1 + frame] = keep_address(stack.address[frame]);
        raw_of(words)[frame] = stack.address[frame];
        slots_of(words)[frame] = static_cast<std::uint32_t>(stack.slot[frame] - from.frame);
    }
    __atomic_store_n(&area.stack_words, index + needed, __ATOMIC_RELEASE);
    return index;
}

/// Stores a stack once. Stacks are equal when their frames and the distances between the slots are equal, wherever on
/// the thread's stack they begin.
[[nodiscard]] std::uint32_t intern(thread_area& area, const walked_stack& stack, const place& from) noexcept {
    stack_cache* const cache = this_thread.stacks;
    if (cache == nullptr) return keep(area, stack, from);
    std::uint64_t hash = stack.count;
    for (std::uint32_t frame = 0; frame < stack.count; ++frame) {
        hash = mix(hash ^ stack.address[frame]) + (stack.slot[frame] - from.frame);
    }
    std::uint32_t& row = cache->interned[mix(hash) % interned_rows];
    if (row != 0) {
        std::uint64_t* const words = area.stack + row;
        bool same = words[0] == stack.count;
        for (std::uint32_t frame = 0; same && frame < stack.count; ++frame) {
            same = raw_of(words)[frame] == stack.address[frame] &&
                   slots_of(words)[frame] == static_cast<std::uint32_t>(stack.slot[frame] - from.frame) &&
                   words[1 + frame] == keep_address(stack.address[frame]);
        }
        if (same) return row;
    }
    return row = keep(area, stack, from);
}

}

bool detail::is_same(std::uint64_t* words, std::uintptr_t frame) noexcept {
    const std::uint64_t count = words[0];
    const std::uint64_t* const raw = raw_of(words);
    const std::uint32_t* const slots = slots_of(words);
    for (std::uint64_t index = 0; index < count; ++index) {
        const std::uintptr_t slot = frame + slots[index];
        if (slot >= this_thread.stack_top) return false; // from a larger stack that was here before
        const std::uintptr_t found = read(slot);
        if (found != raw[index] && replaced_return(found, slot) != raw[index]) return false;
    }
    return true;
}

std::uint32_t stack_of(thread_area& area, const place& from, bool& is_exact) noexcept {
    ++area.misses;
    walked_stack stack;
    walk(stack, from);
    if (area.stack_words > max_words_of_whole_stacks - 4 * max_frames) stack.count = std::min(stack.count, 1U);
    is_exact = stack.is_exact;
    return intern(area, stack, from);
}

void know_site(const place& from, std::uint32_t what, std::uint32_t stack, site_record& site) noexcept {
    stack_cache* const cache = this_thread.stacks;
    if (cache == nullptr || stack == 0 || !is_on_own_stack(from.frame)) return;
    const std::size_t row = row_of(from, what);
    cache->rows[row][cache->next_way[row]++ % cache_ways] = {from.caller, from.frame, stack, what, &site};
}

std::uint16_t* site_row(const thread_area& area, call which, std::uint32_t node, std::uint32_t stack) noexcept {
    stack_cache* const cache = this_thread.stacks;
    if (cache == nullptr) return nullptr;
    const auto number = static_cast<std::uint8_t>(which);
    constexpr std::size_t probes = 64;
    const std::size_t first = mix((std::uint64_t{stack} << 32U) | (node << 8U) | number);
    for (std::size_t step = 0; step < probes; ++step) {
        std::uint16_t& row = cache->sites[(first + step) % site_rows];
        if (row == 0) return &row;
        const site_record& site = area.site[row - 1U];
        if (site.stack == stack && site.node == node && site.call == number) return &row;
    }
    return nullptr;
}

stack_cache* make_stack_cache() noexcept {
    const long memory =
        raw_call(SYS_mmap, 0, sizeof(stack_cache), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory < 0 && memory > -4096 ? nullptr : reinterpret_cast<stack_cache*>(memory); // zeroed: empty
}

void forget_stacks(stack_cache& cache) noexcept { std::memset(static_cast<void*>(cache.rows), 0, sizeof cache.rows); }

void drop_stack_cache(stack_cache* cache) noexcept {
    if (cache != nullptr) raw_call(SYS_munmap, reinterpret_cast<long>(cache), sizeof(stack_cache));
}

}
