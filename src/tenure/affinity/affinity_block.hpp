// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an affinity group takes from its source at a time, and how it is divided. Private to this room.
///
///     block   | head | a record per page | free bits | start bits | page | page | page ...
///     page    64 KiB; objects lie within one
///     granule the group's alignment, 8 bytes or more: what sizes are rounded to and bits are for
///
/// A free bit says that the granule is free and in nobody's extent. Where nothing was ever freed they are zero and were
/// never written, so they take no memory. A start bit says that an object begins there; an object ends where the next
/// start bit or free bit is set, or its page ends. Groups whose frees name the size have none of them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

// Whoever frees an object without its size reads bits around it without the lock of a shared group, while their one
// writer, who has the page or the lock, changes others of the same word. At every moment one of the two bits at the
// object's end is set: the start bit is set before the free bit is cleared, and looked at after it.

[[nodiscard]] inline bit_word load_bits(const bit_word& word, std::memory_order order) noexcept {
    return std::atomic_ref<bit_word>(const_cast<bit_word&>(word)).load(order);
}
/// Requires  nobody else writes the word meanwhile.
inline void store_bits(bit_word& word, bit_word bits) noexcept {
    std::atomic_ref<bit_word>(word).store(bits, std::memory_order_release);
}

enum class page_place : std::uint8_t {
    untouched, ///< never handed out since the block was taken or cleared
    taken,     ///< some thread's extents come from it
    full,      ///< nothing in it is free
    partial,   ///< in the list of pages in which something was freed
    filed,     ///< in the list for its largest run
    empty,     ///< in the list of empty pages; its bits are zero
};

/// A page's record.
struct affinity_page {
    affinity_page* next;
    affinity_page* previous;
    std::uint16_t free_granules; ///< as its bits say
    std::uint16_t capacity;      ///< granules that may be handed out
    std::uint16_t largest;       ///< of a page that is filed: granules of its largest run, when it was filed
    std::uint8_t stream;         ///< zero: of all sizes, else one size
    page_place place;
};

struct affinity_block {
    affinity_block* next;
    affinity_block* previous;
    std::uint64_t canary;
    std::size_t touched_pages; ///< pages from the first usable one on that were handed out
    std::size_t empty_pages;   ///< of them, those that are empty
    affinity_page pages[1];    ///< as many as the layout says
};

constexpr std::size_t affinity_page_bytes = std::size_t{64} << 10;

/// Where everything is in a block.
struct affinity_layout {
    std::size_t block_bytes = 0;
    unsigned granule_shift = 3;
    std::size_t page_count = 0;
    std::size_t words_per_page = 0;
    std::size_t free_offset = 0;  ///< of the bits, from the block's begin
    std::size_t start_offset = 0; ///< zero: there are none
    std::size_t front_bytes = 0;  ///< before the first byte that may be handed out

    /// Requires  `block_bytes` is a power of two of at least a page; `granule` is one from 8 to 1024.
    [[nodiscard]] static constexpr affinity_layout of(std::size_t block_bytes, std::size_t granule,
                                                      bool has_starts) noexcept {
        affinity_layout made;
        made.block_bytes = block_bytes;
        made.granule_shift = static_cast<unsigned>(lowest_bit(granule));
        made.page_count = block_bytes / affinity_page_bytes;
        made.words_per_page = affinity_page_bytes / granule / bits_per_word;
        std::size_t const bits_bytes = made.page_count * made.words_per_page * sizeof(bit_word);
        made.free_offset =
            align_up(sizeof(affinity_block) + (made.page_count - 1) * sizeof(affinity_page), cache_line_bytes);
        made.start_offset = has_starts ? made.free_offset + bits_bytes : 0;
        made.front_bytes = align_up(made.free_offset + (has_starts ? 2 : 1) * bits_bytes,
                                    granule < cache_line_bytes ? cache_line_bytes : granule);
        return made;
    }

    [[nodiscard]] std::size_t granule_bytes() const noexcept { return std::size_t{1} << granule_shift; }
    /// The first page of which enough is left behind the front for any object, with its alignment.
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
    /// The page's place in its block, found from its record.
    [[nodiscard]] std::size_t index_of(const affinity_page& page) const noexcept {
        return static_cast<std::size_t>(&page - block_of(&page)->pages);
    }
    /// The first byte that may be handed out.
    [[nodiscard]] unsigned char* begin_of(const affinity_page& page) const noexcept {
        std::size_t const offset = index_of(page) * affinity_page_bytes;
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

/// Memory in which one thread allocates, one object after the other, and two runs of what it freed last: a tree that is
/// freed from its leaves leaves a gap for each inner node, and closes it later.
struct alignas(cache_line_bytes) affinity_stream {
    unsigned char* next = nullptr; ///< the extent
    unsigned char* end = nullptr;
    // Runs whose bits are not yet set. There is a run before only when there is one after it.
    unsigned char* freed_begin = nullptr;
    unsigned char* freed_end = nullptr;
    unsigned char* before_begin = nullptr;
    unsigned char* before_end = nullptr;
};

}

}
