// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks larger than a segment holds, each in memory of its own, and freed ones that are kept a while. Private to this
/// room.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/heap_segment.hpp>

namespace tenure::inline TENURE_ABI::detail {

constexpr std::uint8_t huge_class = 61; ///< of every slice in the head of a huge block

/// In front of a block, at a multiple of a segment's size: masking a pointer to the block's begin finds it.
struct huge_block {
    std::uint8_t class_of_slice[slices_per_segment]; ///< where heap_segment has them
    huge_block* next;
    huge_block* previous;
    std::size_t mapped_bytes; ///< as the source gave them, this head included
    std::size_t lead_bytes;   ///< from this head to the block
    std::size_t bytes;        ///< as asked for; zero when it is free
    std::uint64_t freed_at_ns;
};

/// What freed blocks may cost.
struct keeping {
    std::uint64_t time_ns = 1'000'000'000;
    std::size_t limit_bytes = std::size_t{256} << 20;
};

/// The first touch of a page costs several times what writing to it costs, so a program that allocates, writes and
/// frees a large block again and again wins by finding its pages touched. What is kept longer than its time goes back
/// at the next call. A new block is never mapped on top of kept ones past the most that was mapped before: kept ones go
/// back first.
///
/// Threads   any; a lock per call. The clock is the caller's: every function that may keep or give back takes the time.
class huge_blocks {
public:
    static constexpr std::size_t largest_alignment = heap_segment_bytes / 2;

    explicit huge_blocks(block_source& source, keeping how = {}) noexcept : source_(source), how_(how) {}
    ~huge_blocks();
    huge_blocks(const huge_blocks&) = delete;
    huge_blocks& operator=(const huge_blocks&) = delete;

    /// Requires  `bytes` is at most max_object_bytes / 2, `alignment` a power of two of at most largest_alignment.
    /// Returns   null when the source refuses, and nothing changes but what is kept.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns) noexcept;
    void deallocate(void* block, std::uint64_t now_ns) noexcept;

    /// Makes a block larger or smaller where it is. Returns   whether it did; if not, nothing changes.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t usable_bytes(const void* block) const noexcept;

    /// Gives back what has been kept longer than its time. Returns   the bytes given back.
    std::size_t expire(std::uint64_t now_ns) noexcept;
    /// Gives back everything that is kept.
    std::size_t trim() noexcept;

    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] std::size_t kept_bytes() const noexcept;

private:
    struct list {
        huge_block* first = nullptr;
        std::size_t mapped_bytes = 0;
        void insert(huge_block& block) noexcept;
        void remove(huge_block& block) noexcept;
    };

    [[nodiscard]] huge_block* take_kept(std::size_t needed) noexcept;
    [[nodiscard]] huge_block* map_new(std::size_t needed) noexcept;
    std::size_t release_kept_before(std::uint64_t freed_before_ns) noexcept;
    std::size_t release(huge_block& block) noexcept;

    block_source& source_;
    keeping const how_;
    mutable std::mutex mutex_; ///< of everything below and of all heads
    list live_, kept_;
    std::size_t live_bytes_ = 0;
    std::size_t peak_mapped_bytes_ = 0;
};

}
