// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks past the small ones and below a segment, in runs of 4 KiB. Private to this room.
///
/// Good fit in O(1) after Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems" (2004): lists of
/// free runs by size, eight to a doubling, and two levels of bits that say which lists have any. The records lie in the
/// segment's head and not in the runs, so that a free run can be given back to the system whole.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include <tenure/base/bits.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/heap_segment.hpp>

namespace tenure::inline TENURE_ABI::detail {

constexpr std::size_t granule_bytes = 4096;
constexpr std::size_t granules_per_segment = heap_segment_bytes / granule_bytes;
constexpr std::uint8_t large_class = 62; ///< of every slice of a segment of large blocks

/// What is known of a run, at its first granule; at its last granule `granules` and `is_free` once more.
struct large_run {
    large_run* next; ///< in the list of its size, when it is free
    large_run* previous;
    std::uint32_t granules;
    bool is_free;
};

struct large_segment {
    std::uint8_t class_of_slice[slices_per_segment]; ///< where heap_segment has them
    large_segment* next;
    std::size_t free_granules;
    large_run runs[granules_per_segment];
};
constexpr std::size_t large_header_granules = (sizeof(large_segment) + granule_bytes - 1) / granule_bytes;
constexpr std::size_t largest_large_bytes = (granules_per_segment - large_header_granules) * granule_bytes;

/// Threads   any; a lock per call.
/// Cost      allocate, deallocate and resize O(1); a search of at most 16 runs before a new segment is taken.
class large_blocks {
public:
    constexpr explicit large_blocks(block_source& source) noexcept : source_(source) {}
    ~large_blocks();
    large_blocks(const large_blocks&) = delete;
    large_blocks& operator=(const large_blocks&) = delete;

    /// Requires  1 <= `bytes` <= largest_large_bytes; `alignment` is a power of two of at most half a segment.
    /// Returns   null when the source refuses, and nothing changes.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate(void* block) noexcept;

    /// Makes a block larger or smaller where it is. Returns   whether it did; if not, nothing changes.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t usable_bytes(const void* block) const noexcept;

    /// Gives empty segments and the memory of free runs back. Returns   the bytes given back.
    std::size_t trim() noexcept;

    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] std::size_t segment_count() const noexcept;
    /// Cost      O(runs), with the lock.
    [[nodiscard]] bool valid() const noexcept;

private:
    static constexpr std::size_t lists_per_doubling = 8;
    static constexpr std::size_t doublings = 14;

    [[nodiscard]] large_run* find(std::size_t granules) noexcept;
    [[nodiscard]] large_run* add_segment() noexcept;
    void insert(large_run& run) noexcept;
    void remove(large_run& run) noexcept;
    void split(large_run& run, std::size_t granules) noexcept;
    void release(large_run& run) noexcept;

    block_source& source_;
    mutable std::mutex mutex_; ///< of everything below and of all records
    large_segment* first_ = nullptr;
    std::size_t segment_count_ = 0;
    std::size_t live_granules_ = 0;
    bit_word doublings_with_free_ = 0;
    std::uint8_t lists_with_free_[doublings]{};
    large_run* lists_[doublings][lists_per_doubling]{};
};

}
