// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's cache of a heap: free blocks of each size class, and the shard that refills it.

#include <array>
#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

class heap_shard;
struct quarantine;

/// Free blocks of one class in one thread's cache. Only that thread moves blocks; others read the count.
struct block_cache {
    // Others read it for statistics: relaxed. push() releases it, for the child of a fork.
    atomic<std::uint32_t> count{0};
    std::uint32_t capacity = 0;
    void** blocks = nullptr;
};
static_assert(sizeof(block_cache) == 16);

// A cache starts with room for eight blocks per class, inside the thread's own page. The room doubles whenever the
// cache is found empty or full, up to 32 KiB of blocks, so that a small program touches little memory. Past that it
// doubles only after 16 more such calls: a thread that replaces blocks of many sizes then takes locks a quarter as
// often. Arrays of up to 32 blocks are close together; a full array takes OS pages of its own.
constexpr std::uint32_t first_capacity = 8;
constexpr std::uint32_t close_capacity = 32;
constexpr std::uint8_t calls_before_growth = 16;
/// Maximum sum over the classes of a thread's cache, past what every cache may grow to.
constexpr std::size_t max_extra_bytes = std::size_t{4} << 20;

[[nodiscard]] constexpr std::uint32_t cached_in(std::size_t bytes, std::size_t class_index,
                                                std::size_t at_least) noexcept {
    return static_cast<std::uint32_t>(
        min_of<std::size_t>(max_of<std::size_t>(bytes / class_bytes(class_index), at_least), 1024));
}
/// Maximum number of blocks of a class in a cache that is seldom found empty or full.
[[nodiscard]] constexpr std::uint32_t base_cached(std::size_t class_index) noexcept {
    return cached_in(std::size_t{32} * 1024, class_index, 2);
}
/// Maximum number of blocks of a class in any cache.
[[nodiscard]] constexpr std::uint32_t max_cached(std::size_t class_index) noexcept {
    return cached_in(std::size_t{256} * 1024, class_index, 16);
}

/// Offset of each class's full array in the area that holds all of them.
constexpr auto array_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + max_cached(index);
    return offsets;
}();
/// Offset of each class's array of the first few blocks in the cache.
constexpr auto first_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + min_of(first_capacity, base_cached(index));
    return offsets;
}();
/// Offset of each class's stock in the area of the stocks.
constexpr auto stock_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + base_cached(index);
    return offsets;
}();
constexpr std::size_t stock_area_bytes = stock_offsets[small_class_count] * sizeof(void*);
/// Offset of each class's array of up to 32 blocks in the cache.
constexpr auto close_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + min_of(close_capacity, base_cached(index));
    return offsets;
}();
constexpr std::size_t array_area_bytes = array_offsets[small_class_count] * sizeof(void*);

/// Maximum number of blocks of a class in a cache for an owner tag.
[[nodiscard]] constexpr std::uint32_t tagged_room(std::size_t class_index) noexcept {
    constexpr std::uint32_t most = 64;
    return min_of(most, base_cached(class_index));
}

/// While a heap counts: what becomes of a class's blocks, over some allocations of a thread.
struct reuse_window {
    std::uint32_t stocked; ///< blocks in the stock after the last slow call
    std::uint16_t frees;   ///< into the stock
    std::uint8_t allocations;
    std::uint8_t ready_blocks; ///< the most to make ready at once
};

constexpr std::size_t max_known_caches = 7;

struct thread_cache {
    /// By class number. The entries for no class, large, huge and watched blocks keep a capacity of zero. At the start,
    /// so that the fast paths add nothing to a class's offset.
    block_cache of_class[class_numbers];
    heap_shard* shard = nullptr;
    quarantine* resting = nullptr; ///< in checked builds, of a main cache
    thread_cache* next = nullptr;  ///< in the heap's list
    thread_cache* next_unused = nullptr;
    void** arrays = nullptr;                ///< area of the full arrays, mapped when the first class outgrows its 32
    thread_cache* main = nullptr;           ///< the same thread's cache for allocations without an owner tag
    thread_cache* next_of_thread = nullptr; ///< from the main cache on: the thread's caches for owner tags
    const void* thread = nullptr;           ///< address of the thread's local state, unique among live threads
    thread_cache* next_by_thread = nullptr; ///< valid while the cache is used
    thread_cache* previous_by_thread = nullptr;
    std::int64_t bytes_to_sample = 0; ///< until a guarded block is sampled: see sample_schedule
    std::uint32_t trims_seen = 0;
    std::uint32_t counted_in = 0; ///< the profile that its counts are for; zero: none
    std::uint16_t tag = 0;        ///< that it allocates for
    bool is_used = false;
    bool has_drawn = false;   ///< bytes_to_sample
    bool is_counting = false; ///< what it allocates is counted for the profile
    bool is_noted = false;    ///< the allocation of the current slow call is one of the profile
    /// One more than the class whose next block from outside the cache is a guarded one; zero: none.
    std::uint8_t sampled_class = 0;
    /// By class: how often the cache was found empty or full since its room last grew.
    std::uint8_t slow_calls[small_class_count]{};
    std::size_t extra_bytes = 0; ///< of room past base_cached()
    /// Of a main cache, in the advised drop-in: the thread's caches for its groups' owner tags.
    thread_cache* known[max_known_caches]{};
    void* first_blocks[first_offsets[small_class_count]]; ///< behind the rest: most are untouched in a small process
    /// By class, while the heap counts allocations: how many come before the next one of the profile, without those
    /// whose blocks are in of_class already.
    std::uint32_t until_sample[small_class_count];
    reuse_window reuse[small_class_count]; ///< by class, while the heap counts
    void** stocks;                         ///< area of the stocks, mapped when the heap counts for the first time
    void* close_blocks[close_offsets[small_class_count]];

    /// Freed blocks of a class while the heap counts: no inline call allocates from it.
    [[nodiscard]] block_cache& stock(std::size_t class_index) noexcept {
        return of_class[counted_classes + class_index];
    }
    /// Where the thread frees blocks of a class to.
    [[nodiscard]] block_cache& freed(std::size_t class_index) noexcept {
        return is_counting ? stock(class_index) : of_class[class_index];
    }
};
static_assert(offsetof(thread_cache, of_class) == 0);
// A small process touches one OS page of a cache.
static_assert(offsetof(thread_cache, until_sample) <= 4096);
static_assert(sizeof(thread_cache) <= 3 * 4096);

}
