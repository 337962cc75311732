// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Call stacks, and a cache of those that were seen before.
///
/// Unwinding with tables costs microseconds. Recognising a stack that was seen before costs a load and a compare per
/// frame: it has the same return address in the same slot, and all its other return addresses are still in their slots.
/// The whole stack is compared, so that a different one is never taken for it.

#include <cstdint>

#include "observe/hook/patch/patches.hpp"
#include "observe/hook/record/recorder.hpp"

namespace tenure::lab::hook {

constexpr std::size_t cache_rows = 512, cache_ways = 4, interned_rows = 4096, site_rows = 2 * max_sites;

/// A stack that was seen, and the entry of the call that was made from it.
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

// In the area: { count, frames, raw addresses, and, in 32 bits each, the distances of their slots from the hook's frame
// }.
[[nodiscard]] inline std::uint64_t* raw_of(std::uint64_t* words) noexcept { return words + 1 + words[0]; }
[[nodiscard]] inline std::uint32_t* slots_of(std::uint64_t* words) noexcept {
    return reinterpret_cast<std::uint32_t*>(raw_of(words) + words[0]);
}

[[nodiscard]] inline std::size_t row_of(const place& from, std::uint32_t what) noexcept {
    return mix(from.caller ^ (from.frame << 7U) ^ what) % cache_rows;
}

/// Whether the stack is the stored one. Out of line, because recording without stacks needs none of its registers.
[[nodiscard]] bool is_same(std::uint64_t* words, std::uintptr_t frame) noexcept;

}

/// Returns   the entry of a call, `what`, that was made from exactly this stack before; nullptr when there is none, or
/// when it is forgotten.
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

/// Walks the stack.
/// Returns   its index in the thread's area; 0 when there is no room for it. `is_exact`: the current content of the
/// stack distinguishes it from others.
[[nodiscard]] std::uint32_t stack_of(thread_area& area, const place& from, bool& is_exact) noexcept;

/// Stores an entry for the next known_site().
void know_site(const place& from, std::uint32_t what, std::uint32_t stack, site_record& site) noexcept;

/// Returns   the place for the number of an entry, which counts from 1 (0: empty); nullptr when there is no room.
[[nodiscard]] std::uint16_t* site_row(const thread_area& area, call which, std::uint32_t node,
                                      std::uint32_t stack) noexcept;

/// Allocates the thread's cache. Returns   nullptr when out of memory; every stack is then unwound.
[[nodiscard]] stack_cache* make_stack_cache() noexcept;
void drop_stack_cache(stack_cache* cache) noexcept;
/// Forgets the cached stacks and keeps the entries.
void forget_stacks(stack_cache& cache) noexcept;

}
