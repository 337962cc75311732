// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a thread keeps of a heap: free blocks of each size class, and the shard that it takes more from. Private to
/// this room.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap_memory.hpp>
#include <tenure/heap/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

class heap_shard;

/// Free blocks of one class at one thread. Only the thread moves blocks in and out; others read the count.
struct block_cache {
    std::atomic<std::uint32_t> count{0};
    std::uint32_t capacity = 0;
    void** blocks = nullptr;
};
static_assert(sizeof(block_cache) == 16);

// A cache begins with room for eight blocks of a class, inside the thread's own page, and doubles whenever it is found
// empty or full, up to 32 KiB of blocks or 1024 of them: a program that does little touches little.
constexpr std::uint32_t first_capacity = 8;

[[nodiscard]] constexpr std::uint32_t max_cached(std::size_t class_index) noexcept {
    constexpr std::size_t max_bytes = std::size_t{32} * 1024;
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(max_bytes / class_bytes(class_index), 2, 1024));
}

/// Where the full arrays of the classes begin in the area that holds them all.
constexpr auto array_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + max_cached(index);
    return offsets;
}();
constexpr std::size_t array_area_bytes = array_offsets[small_class_count] * sizeof(void*);

// Before the loader has relocated a drop-in malloc, the offset of a thread-local pointer reads as zero, and the pointer
// as the address of the thread's control block. The counts lie where glibc has a part of it that it does not use, so
// that a cache that is none is empty (dropin/early.hpp).
constexpr std::size_t used_control_block_bytes = 128; // in front of that part, on x86-64

/// What a cache for an owner tag holds of a class at most.
[[nodiscard]] constexpr std::uint32_t tagged_room(std::size_t class_index) noexcept {
    constexpr std::uint32_t most = 64;
    return std::min(most, max_cached(class_index));
}

struct thread_cache {
    heap_shard* shard = nullptr;
    thread_cache* next = nullptr; ///< in the heap's list
    thread_cache* next_unused = nullptr;
    void** arrays = nullptr;      ///< the area of the full arrays, mapped when the first class outgrows its eight
    thread_cache* main = nullptr; ///< of the same thread, for what has no owner tag
    thread_cache* next_of_thread = nullptr; ///< from the main one on: its caches for owner tags
    const void* thread = nullptr;           ///< where its thread's local state is: no two live threads have the same
    thread_cache* next_by_thread = nullptr; ///< while it is used
    thread_cache* previous_by_thread = nullptr;
    std::uint32_t trims_seen = 0;
    std::uint16_t tag = 0; ///< that it allocates for
    bool is_used = false;
    /// By class. Those of no, large and huge blocks stay at a capacity of zero.
    alignas(used_control_block_bytes) block_cache of_class[class_numbers];
    void* first_blocks[small_class_count][first_capacity];
};
static_assert(offsetof(thread_cache, of_class) == used_control_block_bytes);
static_assert(sizeof(thread_cache) <= 4096);

/// The class that serves a request, or one past the last. Requires  `alignment` is a power of two, and their sum does
/// not overflow.
[[nodiscard]] constexpr std::size_t class_for(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const least = alignment <= 8 ? 1 : 9; // the smallest class lies at multiples of 8 only
    std::size_t const size = bytes < least ? least : bytes;
    std::size_t const whole = alignment <= 16 ? size : (size + alignment - 1) & ~(alignment - 1);
    return whole <= max_small_bytes ? class_of(whole) : small_class_count;
}

}
