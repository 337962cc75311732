// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's cache of a heap: free blocks of each size class, and the shard that refills it.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

class heap_shard;

/// Free blocks of one class in one thread's cache. Only that thread moves blocks; others read the count.
struct block_cache {
    std::atomic<std::uint32_t> count{0};
    std::uint32_t capacity = 0;
    void** blocks = nullptr;
};
static_assert(sizeof(block_cache) == 16);

// A cache starts with room for eight blocks per class, inside the thread's own page. The room doubles whenever the
// cache is found empty or full, up to 32 KiB of blocks or 1024 of them, so that a small program touches little memory.
constexpr std::uint32_t first_capacity = 8;

[[nodiscard]] constexpr std::uint32_t max_cached(std::size_t class_index) noexcept {
    constexpr std::size_t max_bytes = std::size_t{32} * 1024;
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(max_bytes / class_bytes(class_index), 2, 1024));
}

/// Offset of each class's full array in the area that holds all of them.
constexpr auto array_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + max_cached(index);
    return offsets;
}();
constexpr std::size_t array_area_bytes = array_offsets[small_class_count] * sizeof(void*);

/// Maximum number of blocks of a class in a cache for an owner tag.
[[nodiscard]] constexpr std::uint32_t tagged_room(std::size_t class_index) noexcept {
    constexpr std::uint32_t most = 64;
    return std::min(most, max_cached(class_index));
}

struct thread_cache {
    /// By class number. The entries for no class, large and huge blocks keep a capacity of zero. At the start, so that
    /// the fast paths add nothing to a class's offset.
    block_cache of_class[class_numbers];
    void* first_blocks[small_class_count][first_capacity];
    heap_shard* shard = nullptr;
    thread_cache* next = nullptr; ///< in the heap's list
    thread_cache* next_unused = nullptr;
    void** arrays = nullptr;                ///< area of the full arrays, mapped when the first class outgrows its eight
    thread_cache* main = nullptr;           ///< the same thread's cache for allocations without an owner tag
    thread_cache* next_of_thread = nullptr; ///< from the main cache on: the thread's caches for owner tags
    const void* thread = nullptr;           ///< address of the thread's local state, unique among live threads
    thread_cache* next_by_thread = nullptr; ///< valid while the cache is used
    thread_cache* previous_by_thread = nullptr;
    std::uint32_t trims_seen = 0;
    std::uint16_t tag = 0; ///< that it allocates for
    bool is_used = false;
};
static_assert(offsetof(thread_cache, of_class) == 0);
static_assert(sizeof(thread_cache) <= 4096);

}
