// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layout of an affinity group's blocks, which are its unit of acquisition.
///
///     block   | head | a record per page | free bits | start bits | page | page | page ...
///     page    64 KiB; no object crosses a page boundary
///     granule the group's alignment, 4 bytes or more: sizes are rounded up to it, and each has its bits

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

enum class page_state : std::uint8_t {
    untouched, ///< never used since the block was acquired or cleared; perhaps set aside for a stream
    active,    ///< a thread's extents come from it
    full,      ///< in no list: has no free granule that a request could use
    partial,   ///< in the list of pages in which something was freed
    measured,  ///< in the list for its largest run
    empty,     ///< in the list of empty pages; its bits are zero
};

/// The record of a page.
struct affinity_page {
    affinity_page* next;
    affinity_page* previous;
    std::uint16_t free_granules; ///< number of set free bits
    std::uint16_t capacity;      ///< granules available to objects
    std::uint16_t largest;       ///< in a measured page: granules of its largest run
    std::uint8_t stream;         ///< zero: all sizes; otherwise one size
    page_state state;

    [[nodiscard]] bool is_used() const noexcept { return state != page_state::empty && state != page_state::untouched; }
};

/// Whether every page of a list has the state and is linked in both directions. Adds their number to `count`.
[[nodiscard]] inline bool is_valid_list(const affinity_page* page, page_state state, std::size_t& count) noexcept {
    const affinity_page* previous = nullptr;
    for (; page != nullptr; previous = page, page = page->next, ++count)
        if (page->state != state || page->previous != previous) return false;
    return true;
}

struct affinity_block {
    affinity_block* next;
    affinity_block* previous;
    std::uint64_t canary;
    std::size_t touched_pages; ///< pages used or set aside so far, from the first usable one on
    std::size_t empty_pages;   ///< those of them that are empty or set aside
    affinity_page pages[1];    ///< as many as the layout has
};

constexpr std::size_t affinity_page_bytes = std::size_t{64} << 10;
constexpr std::size_t affinity_table_limit_bytes = 512; ///< largest size in a group's table of sizes
constexpr std::size_t affinity_stream_count = 65; ///< one for all sizes, and one for each size: see affinity_layout
constexpr std::size_t affinity_least_granule = 4;

/// Offsets and sizes within a block.
struct affinity_layout {
    std::size_t block_bytes = 0;
    std::uint32_t granule_shift = 3;
    std::uint32_t stream_shift = 3; ///< stream N of one size has objects of N << stream_shift bytes
    bool has_starts = false;        ///< whether blocks have start bits
    std::size_t page_count = 0;
    std::size_t words_per_page = 0;
    std::size_t free_offset = 0;  ///< of the free bits, from the block's start
    std::size_t start_offset = 0; ///< of the start bits
    std::size_t front_bytes = 0;  ///< before the first usable byte

    /// Requires  `block_bytes` is a power of two of at least one page; `granule` is a power of two from 4 to 1024.
    [[nodiscard]] static constexpr affinity_layout of(std::size_t block_bytes, std::size_t granule,
                                                      bool has_starts) noexcept {
        affinity_layout made;
        made.block_bytes = block_bytes;
        made.granule_shift = static_cast<std::uint32_t>(lowest_bit(granule));
        made.stream_shift = stream_shift_of(granule);
        made.has_starts = has_starts;
        made.page_count = block_bytes / affinity_page_bytes;
        made.words_per_page = affinity_page_bytes / granule / bits_per_word;
        const std::size_t bits_bytes = made.page_count * made.words_per_page * sizeof(bit_word);
        made.free_offset =
            align_up(sizeof(affinity_block) + (made.page_count - 1) * sizeof(affinity_page), cache_line_bytes);
        made.start_offset = made.free_offset + bits_bytes;
        made.front_bytes = align_up(made.free_offset + (has_starts ? 2 : 1) * bits_bytes,
                                    granule < cache_line_bytes ? cache_line_bytes : granule);
        return made;
    }

    /// Sizes differ by 8 bytes from stream to stream, up to 512; where granules have 4 bytes, by 4, up to 256.
    [[nodiscard]] static constexpr std::uint32_t stream_shift_of(std::size_t granule) noexcept {
        return granule < 8 ? 2 : 3;
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
    [[nodiscard]] std::size_t granule_in_page(const void* inside) const noexcept {
        return (address_of(inside) & (affinity_page_bytes - 1)) >> granule_shift;
    }
    [[nodiscard]] affinity_page& page_of(const void* inside) const noexcept {
        return block_of(inside)->pages[(address_of(inside) & (block_bytes - 1)) / affinity_page_bytes];
    }
    [[nodiscard]] bit_word* free_bits(const affinity_block* block) const noexcept {
        return static_cast<bit_word*>(pointer_at(address_of(block) + free_offset));
    }
    [[nodiscard]] bit_word& free_word(const void* inside) const noexcept {
        return free_bits(block_of(inside))[granule_of(inside) / bits_per_word];
    }
    /// Requires  blocks have start bits.
    [[nodiscard]] bit_word* start_bits(const affinity_block* block) const noexcept {
        return static_cast<bit_word*>(pointer_at(address_of(block) + start_offset));
    }
    /// The page's index in its block, computed from its record.
    [[nodiscard]] std::size_t index_of(const affinity_page& page) const noexcept {
        return static_cast<std::size_t>(&page - block_of(&page)->pages);
    }
    /// The index of the page's first word, both of the free bits and of the start bits.
    [[nodiscard]] std::size_t first_word_of(const affinity_page& page) const noexcept {
        return index_of(page) * words_per_page;
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
    /// The bytes between them.
    [[nodiscard]] std::size_t bytes_of(const affinity_page& page) const noexcept {
        return static_cast<std::size_t>(end_of(page) - begin_of(page));
    }
    /// The granules that an object takes in pages of one size.
    /// Requires  `stream` is not zero.
    [[nodiscard]] std::size_t granules_per_object(std::size_t stream) const noexcept {
        const std::size_t bytes = stream << stream_shift;
        return bytes < granule_bytes() ? 1 : bytes >> granule_shift;
    }
};

}
