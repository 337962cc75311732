// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What one heap takes from its source: within a limit, known by address, and counted. Private to this room.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A segment of 32 MiB lies at a multiple of its size, so that masking a pointer finds its head. A heap over a small
// source has smaller ones: down to 256 KiB, of which a head takes 32.
constexpr std::size_t slice_bytes = std::size_t{32} * 1024;
constexpr std::size_t max_segment_bytes = std::size_t{32} << 20;
constexpr std::size_t min_segment_bytes = std::size_t{256} << 10;
constexpr std::size_t max_slices = max_segment_bytes / slice_bytes;

/// What every segment begins with, whether it holds pages of small blocks, large blocks or one huge block.
struct segment_head {
    /// The size class of a slice's blocks, or one of the numbers below.
    std::uint8_t class_of_slice[max_slices];

    [[nodiscard]] static segment_head* of(const void* inside, std::size_t segment_bytes) noexcept {
        return static_cast<segment_head*>(pointer_at(align_down(address_of(inside), segment_bytes)));
    }
    [[nodiscard]] static std::size_t slice_of(const void* inside, std::size_t segment_bytes) noexcept {
        return (address_of(inside) & (segment_bytes - 1)) / slice_bytes;
    }
};
constexpr std::uint8_t no_class = 63;     ///< of a slice that holds no blocks
constexpr std::uint8_t large_class = 62;  ///< of every slice of a segment of large blocks
constexpr std::uint8_t tagged_class = 60; ///< of a page whose owner tag has pages of its own: it knows its class
constexpr std::uint8_t huge_class = 61;   ///< of every slice in the head of a huge block
constexpr std::size_t class_numbers = 64;

/// What is known of a segment's worth of addresses by its first piece.
enum class head_kind : std::uint8_t {
    none,
    segment, ///< a segment of this heap begins there, and all of it is the heap's
    huge,    ///< the head of a huge block of this heap lies there; its memory may end anywhere
};

/// Threads   any.
class heap_memory {
public:
    constexpr explicit heap_memory(block_source& source, std::size_t segment_bytes = max_segment_bytes,
                                   std::size_t limit_bytes = max_object_bytes) noexcept
        : source_(source), segment_bytes_(segment_bytes), limit_bytes_(limit_bytes) {}
    heap_memory(const heap_memory&) = delete;
    heap_memory& operator=(const heap_memory&) = delete;

    [[nodiscard]] std::size_t segment_bytes() const noexcept { return segment_bytes_; }
    [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_bytes_; }

    /// Memory at a multiple of the larger of a segment's size and `alignment`. Null when the source or the limit
    /// refuses, and when the source ignores the alignment.
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept;
    /// Reports, once, that the source gave a block at another alignment, which acquire() refused: without a lock of the
    /// heap's, because whoever hears of it may use the heap.
    void report_misaligned() noexcept {
        if (misaligned_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            write_misaligned();
    }
    void release(void* memory, std::size_t bytes) noexcept;
    [[nodiscard]] bool extend(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept;
    /// Keeps the alignment of a segment. A source that does not is made up for by a copy; without memory for it the
    /// process ends.
    [[nodiscard]] void* remap(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept;
    bool decommit(void* part, std::size_t bytes) noexcept;
    /// Makes part of a block zero. Of a large one only what is mostly in memory is written, and the rest given back: a
    /// block that was kept and mostly not touched takes no more memory than it had.
    void clear(void* part, std::size_t bytes) noexcept;
    /// Whether the source has addresses to spare.
    [[nodiscard]] bool is_plentiful() const noexcept;
    [[nodiscard]] bool is_zeroed() const noexcept { return source_.is_zeroed(); }

    /// Makes a head known, with all its slices of one class, and forgets it.
    [[nodiscard]] bool announce(segment_head& head, std::uint8_t class_of_all) noexcept;
    void withdraw(segment_head& head) noexcept;
    /// What a segment's worth of addresses that `pointer` is in begins with: asked for any pointer, without a lock, and
    /// nothing is read there. Of a huge block only the first segment is known.
    [[nodiscard]] head_kind kind_of(const void* pointer) const noexcept;

    /// Counts bytes that pages and blocks take up, shared by all threads: for slow paths.
    void count_use(std::size_t bytes) noexcept;
    void uncount_use(std::size_t bytes) noexcept { in_use_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

    [[nodiscard]] std::size_t in_use_bytes() const noexcept { return in_use_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t reserved_bytes() const noexcept {
        return reserved_bytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] std::size_t source_blocks() const noexcept { return blocks_.load(std::memory_order_relaxed); }

private:
    [[nodiscard]] bool charge_limit(std::size_t bytes) noexcept;
    TENURE_COLD void write_misaligned() noexcept;
    [[nodiscard]] TENURE_COLD void* copy_aligned(void* odd, std::size_t bytes) noexcept;

    platform::mutex mutex_; ///< around the source's calls: it may be one for one thread at a time
    block_source& source_;
    std::size_t const segment_bytes_;
    std::size_t const limit_bytes_;
    std::atomic<std::size_t> reserved_bytes_{0};
    std::atomic<std::size_t> blocks_{0};
    std::atomic<std::uintptr_t> misaligned_{0}; ///< what the source gave, to be reported
    std::atomic<std::size_t> in_use_bytes_{0};
    std::atomic<std::size_t> peak_bytes_{0};
};

}
