// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layout of an affinity group's blocks, which are its unit of acquisition.
///
///     block   | head | a record per page | free bits | start bits | page | page | page ...
///     page    64 KiB; no object crosses a page boundary
///     granule the group's alignment, 8 bytes or more: sizes are rounded up to it, and each has its bits
///
/// A free bit marks a granule that is free and in no extent. Where nothing was ever freed, free bits are zero and were
/// never written, so they take no memory. A start bit marks the start of an object; the object ends at the next start
/// bit or free bit, or at the end of its page. Groups whose frees pass the size have no start bits.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

// A free without a size reads bits around the object without the lock of a shared group. Meanwhile the words' only
// writer, which owns the page or holds the lock, may change other bits of the same words. One of the two bits at the
// object's end is set at every moment: the writer sets the start bit before it clears the free bit, and the reader
// loads the start bit after the free bit.

[[nodiscard]] inline bit_word load_bits(const bit_word& word, std::memory_order order) noexcept {
    return std::atomic_ref<bit_word>(const_cast<bit_word&>(word)).load(order);
}
/// Requires  there is no concurrent writer of the word.
inline void store_bits(bit_word& word, bit_word bits) noexcept {
    std::atomic_ref<bit_word>(word).store(bits, std::memory_order_release);
}

enum class page_place : std::uint8_t {
    untouched, ///< never used since the block was acquired or cleared
    taken,     ///< a thread's extents come from it
    full,      ///< has no free granule
    partial,   ///< in the list of pages in which something was freed
    filed,     ///< in the list for its largest run
    empty,     ///< in the list of empty pages; its bits are zero
};

/// The record of a page.
struct affinity_page {
    affinity_page* next;
    affinity_page* previous;
    std::uint16_t free_granules; ///< number of set free bits
    std::uint16_t capacity;      ///< granules available to objects
    std::uint16_t largest;       ///< in a filed page: granules of its largest run when it was filed
    std::uint8_t stream;         ///< zero: all sizes; otherwise one size
    page_place place;
};

struct affinity_block {
    affinity_block* next;
    affinity_block* previous;
    std::uint64_t canary;
    std::size_t touched_pages; ///< pages in use so far, from the first usable one on
    std::size_t empty_pages;   ///< the empty ones among them
    affinity_page pages[1];    ///< as many as the layout has
};

constexpr std::size_t affinity_page_bytes = std::size_t{64} << 10;

/// Offsets and sizes within a block.
struct affinity_layout {
    std::size_t block_bytes = 0;
    unsigned granule_shift = 3;
    std::size_t page_count = 0;
    std::size_t words_per_page = 0;
    std::size_t free_offset = 0;  ///< of the free bits, from the block's start
    std::size_t start_offset = 0; ///< of the start bits; zero: none
    std::size_t front_bytes = 0;  ///< before the first usable byte

    /// Requires  `block_bytes` is a power of two of at least one page; `granule` is a power of two from 8 to 1024.
    [[nodiscard]] static constexpr affinity_layout of(std::size_t block_bytes, std::size_t granule,
                                                      bool has_starts) noexcept {
        affinity_layout made;
        made.block_bytes = block_bytes;
        made.granule_shift = static_cast<unsigned>(lowest_bit(granule));
        made.page_count = block_bytes / affinity_page_bytes;
        made.words_per_page = affinity_page_bytes / granule / bits_per_word;
        const std::size_t bits_bytes = made.page_count * made.words_per_page * sizeof(bit_word);
        made.free_offset =
            align_up(sizeof(affinity_block) + (made.page_count - 1) * sizeof(affinity_page), cache_line_bytes);
        made.start_offset = has_starts ? made.free_offset + bits_bytes : 0;
        made.front_bytes = align_up(made.free_offset + (has_starts ? 2 : 1) * bits_bytes,
                                    granule < cache_line_bytes ? cache_line_bytes : granule);
        return made;
    }

    [[nodiscard]] std::size_t granule_bytes() const noexcept { return std::size_t{1} << granule_shift; }
    /// The first page with enough room behind the front for any object, with its alignment.
    [[nodiscard]] std::size_t first_page() const noexcept {
        constexpr std::size_t least = affinity_page_bytes / 4 + 4096;
        return (front_bytes + least - 1) / affinity_page_bytes;
    }
    [[nodiscard]] std::size_t usable_pages() const noexcept { return page_count - first_page(); }

    [[nodiscard]] affinity_block* block_of(const void* inside) const noexcept {
        return static_cast<affinity_block*>(pointer_at(align_down(address_of(inside), block_bytes)));
    }
    [[nodiscard]] std::size_t granule_of(const void* inside) const noexcept {
        return (address_of(inside) & (block_bytes - 1)) >> granule_shift;
    }
    [[nodiscard]] affinity_page& page_of(const void* inside) const noexcept {
        return block_of(inside)->pages[(address_of(inside) & (block_bytes - 1)) / affinity_page_bytes];
    }
    [[nodiscard]] bit_word* free_bits(affinity_block* block) const noexcept {
        return static_cast<bit_word*>(pointer_at(address_of(block) + free_offset));
    }
    [[nodiscard]] bit_word* start_bits(affinity_block* block) const noexcept {
        return static_cast<bit_word*>(pointer_at(address_of(block) + start_offset));
    }
    /// The page's index in its block, computed from its record.
    [[nodiscard]] std::size_t index_of(const affinity_page& page) const noexcept {
        return static_cast<std::size_t>(&page - block_of(&page)->pages);
    }
    /// The first usable byte of the page.
    [[nodiscard]] unsigned char* begin_of(const affinity_page& page) const noexcept {
        const std::size_t offset = index_of(page) * affinity_page_bytes;
        return static_cast<unsigned char*>(
            pointer_at(address_of(block_of(&page)) + (offset < front_bytes ? front_bytes : offset)));
    }
    [[nodiscard]] unsigned char* end_of(const affinity_page& page) const noexcept {
        return static_cast<unsigned char*>(
            pointer_at(address_of(block_of(&page)) + (index_of(page) + 1) * affinity_page_bytes));
    }
    [[nodiscard]] std::size_t granules_in(const affinity_page& page) const noexcept {
        return static_cast<std::size_t>(end_of(page) - begin_of(page)) >> granule_shift;
    }
};

/// The memory in which a thread allocates one object after the other, and the two runs that it freed last. Two, because
/// freeing a tree from its leaves leaves a gap for each inner node and closes it later.
struct alignas(cache_line_bytes) affinity_stream {
    unsigned char* next = nullptr; ///< the extent
    unsigned char* end = nullptr;
    // Runs whose free bits are not yet set. "before" is used only while "freed" is.
    unsigned char* freed_begin = nullptr;
    unsigned char* freed_end = nullptr;
    unsigned char* before_begin = nullptr;
    unsigned char* before_end = nullptr;
};

constexpr std::size_t affinity_table_limit_bytes = 512; ///< largest size in a group's table of sizes
constexpr std::size_t affinity_stream_count = affinity_table_limit_bytes / 8 + 1;

/// What a thread allocates from.
struct affinity_part {
    std::atomic<std::ptrdiff_t> live_count{0}; ///< the thread's allocations minus its frees: may be negative
    affinity_part* next = nullptr;
    affinity_part* previous = nullptr;
    affinity_stream streams[affinity_stream_count];
    affinity_page* taken[affinity_stream_count] = {};          ///< the page that each stream's extents come from
    std::uint16_t scanned[affinity_stream_count] = {};         ///< granules of it that were searched for runs
    std::uint16_t largest_skipped[affinity_stream_count] = {}; ///< the largest run that was too small
    std::uint16_t skipped[affinity_stream_count] = {};         ///< granules in all runs that were too small

    void count(std::ptrdiff_t change) noexcept {
        live_count.store(live_count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
    }
};

}

}
