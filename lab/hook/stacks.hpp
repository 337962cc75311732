// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Call stacks, and a memory of those that were seen.
///
/// Unwinding by tables costs microseconds, looking at a stack that was seen before costs a load and a compare a frame:
/// under the same return address at the same place of the stack lies, with the return addresses that it had then at the
/// places where they stood, the same stack. It is looked at whole, so that a wrong one is not taken for it.

#include <cstdint>

#include "hook/patches.hpp"
#include "hook/recorder.hpp"

namespace tenure::lab::hook {

constexpr std::size_t cache_rows = 512, cache_ways = 4, interned_rows = 4096, site_rows = 2 * max_sites;

/// A stack that was seen, and the line of the call that was made from it.
struct cached_stack {
    std::uintptr_t caller = 0, frame = 0;
    std::uint32_t stack = 0; // index of its words
    std::uint32_t what = 0;  // the call and the region
    site_record* site = nullptr;
};

struct stack_cache {
    cached_stack rows[cache_rows][cache_ways];
    std::uint32_t next_way[cache_rows];
    std::uint32_t interned[interned_rows]; // by content
    std::uint16_t sites[site_rows];
};

namespace detail {

[[nodiscard]] inline std::uintptr_t read(std::uintptr_t slot) noexcept {
    return *reinterpret_cast<const volatile std::uintptr_t*>(slot);
}

[[nodiscard]] inline std::uint64_t mix(std::uint64_t value) noexcept {
    value ^= value >> 32U;
    value *= 0x9E37'79B9'7F4A'7C15;
    return value ^ (value >> 29U);
}

// In the area: { count, frames, their addresses, and in half a word each where they stood above the hook's frame }.
[[nodiscard]] inline std::uint64_t* raw_of(std::uint64_t* words) noexcept { return words + 1 + words[0]; }
[[nodiscard]] inline std::uint32_t* slots_of(std::uint64_t* words) noexcept {
    return reinterpret_cast<std::uint32_t*>(raw_of(words) + words[0]);
}

[[nodiscard]] inline std::size_t row_of(const place& from, std::uint32_t what) noexcept {
    return mix(from.caller ^ (from.frame << 7U) ^ what) % cache_rows;
}

/// Whether the stack is the one that was kept. Out of line: a note without stacks needs none of its registers.
[[nodiscard]] bool is_same(std::uint64_t* words, std::uintptr_t frame) noexcept;

}

/// The line of a call, `what`, that was made from this very stack before; null when it was not, or is forgotten.
[[nodiscard]] inline site_record* known_site(thread_area& area, const place& from, std::uint32_t what) noexcept {
    stack_cache* const cache = this_thread.stacks;
    if (cache == nullptr || !is_on_own_stack(from.frame)) [[unlikely]]
        return nullptr;
    for (cached_stack& each : cache->rows[detail::row_of(from, what)]) {
        if (each.caller != from.caller || each.frame != from.frame || each.what != what) continue;
        if (chosen.stacks == stack_mode::none || detail::is_same(area.stack + each.stack, from.frame)) return each.site;
    }
    return nullptr;
}

/// Walks the stack. Returns   its index in the thread's area; 0 when there is no room for it. `is_exact`: what the
/// stack holds now tells it from others.
[[nodiscard]] std::uint32_t stack_of(thread_area& area, const place& from, bool& is_exact) noexcept;

/// For the next known_site().
void know_site(const place& from, std::uint32_t what, std::uint32_t stack, site_record& site) noexcept;

/// Where the number of a line is kept, counted from 1, or is to be put where there is 0; null when there is no room.
[[nodiscard]] std::uint16_t* site_row(const thread_area& area, call which, std::uint32_t node,
                                      std::uint32_t stack) noexcept;

/// Memory for the thread's cache; null when refused: every stack is then unwound.
[[nodiscard]] stack_cache* make_stack_cache() noexcept;
void drop_stack_cache(stack_cache* cache) noexcept;
/// Forgets what lay on stacks; the lines stay.
void forget_stacks(stack_cache& cache) noexcept;

}
