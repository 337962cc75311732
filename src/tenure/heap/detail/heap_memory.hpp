// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory that one heap acquires from its source: limited, found by address, and counted.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A segment of 32 MiB starts at a multiple of its size, so masking a pointer finds its head. A heap over a small source
// has smaller segments, down to 256 KiB, of which the head takes 32 KiB.
constexpr std::size_t slice_bytes = std::size_t{32} * 1024;
constexpr std::size_t max_segment_bytes = std::size_t{32} << 20;
constexpr std::size_t min_segment_bytes = std::size_t{256} << 10;
constexpr std::size_t max_slices = max_segment_bytes / slice_bytes;

/// The start of every segment, whether it holds pages of small blocks, large blocks or one huge block.
struct segment_head {
    /// The size class of each slice's blocks, or one of the numbers below.
    std::uint8_t class_of_slice[max_slices];

    [[nodiscard]] static segment_head* of(const void* inside, std::size_t segment_bytes) noexcept {
        return static_cast<segment_head*>(pointer_at(align_down(address_of(inside), segment_bytes)));
    }
    [[nodiscard]] static std::size_t slice_of(const void* inside, std::size_t segment_bytes) noexcept {
        return (address_of(inside) & (segment_bytes - 1)) / slice_bytes;
    }
};
constexpr std::uint8_t no_class = 63;     ///< a slice that holds no blocks
constexpr std::uint8_t large_class = 62;  ///< every slice of a segment of large blocks
constexpr std::uint8_t tagged_class = 60; ///< a page of an owner tag, whose record has the class
constexpr std::uint8_t huge_class = 61;   ///< every slice in the head of a huge block
constexpr std::size_t class_numbers = 64;

/// What starts at a segment-aligned address.
enum class head_kind : std::uint8_t {
    none,
    segment, ///< a segment of this heap; all of it belongs to the heap
    huge,    ///< the head of a huge block of this heap; the block's memory may end anywhere
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

    /// Acquires memory at a multiple of the larger of the segment size and `alignment`.
    /// Returns   nullptr when the source fails, the limit is reached, or the source ignores the alignment.
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept;
    /// Reports, once, that the source returned a misaligned block, which acquire() rejected. Call it without any lock
    /// of the heap, because the report handler may use the heap.
    void report_misaligned() noexcept {
        if (misaligned_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            write_misaligned();
    }
    void release(void* memory, std::size_t bytes) noexcept;
    [[nodiscard]] bool extend(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept;
    /// Moves memory to another size; the result is segment-aligned. If the source ignores the alignment, the contents
    /// are copied; if there is no memory for the copy, the process aborts.
    [[nodiscard]] void* remap(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept;
    bool decommit(void* part, std::size_t bytes) noexcept;
    /// Zeroes part of a block. In a large part, only pieces that are mostly resident are written; the others are
    /// decommitted. A retained block that was mostly untouched therefore takes no more memory than before.
    void clear(void* part, std::size_t bytes) noexcept;
    /// Whether neither the source nor the limit restricts addresses.
    [[nodiscard]] bool is_plentiful() const noexcept;
    [[nodiscard]] bool is_zeroed() const noexcept { return source_.is_zeroed(); }

    /// Registers a head and sets the class of all its slices; withdraw() removes it.
    [[nodiscard]] bool announce(segment_head& head, std::uint8_t class_of_all) noexcept;
    void withdraw(segment_head& head) noexcept;
    /// What starts at the segment-aligned address below `pointer`. Accepts any pointer, takes no lock and does not read
    /// that memory. Only the first segment of a huge block is known.
    [[nodiscard]] head_kind kind_of(const void* pointer) const noexcept;

    /// Counts bytes used by pages and blocks. The counter is shared by all threads: slow paths only.
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

    platform::mutex mutex_; ///< serializes the source's calls: the source may be single-threaded
    block_source& source_;
    const std::size_t segment_bytes_;
    const std::size_t limit_bytes_;
    std::atomic<std::size_t> reserved_bytes_{0};
    std::atomic<std::size_t> blocks_{0};
    std::atomic<std::uintptr_t> misaligned_{0}; ///< address of a misaligned block, still to be reported
    std::atomic<std::size_t> in_use_bytes_{0};
    std::atomic<std::size_t> peak_bytes_{0};
};

}
