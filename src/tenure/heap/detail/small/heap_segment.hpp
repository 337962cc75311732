// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Naturally aligned runs of pages of small blocks, and the bits that mark free blocks.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of a segment, at a multiple of its size:
//
//   | classes: a byte per slice | first slices | pages: 128 bytes per slice | long bits: 512 | slices of 32 KiB ... |
//
// A page is one slice, or two to eight slices for blocks past 4 KiB. A free masks the pointer and reads the class of
// its slice; only when the cache is full does it read the page and the bits. Therefore blocks have no header, a free
// does not touch them, and the bytes that it reads for five million blocks fit in the first-level cache. A page of up
// to 512 blocks contains its own bits, so that page records are close together: random frees wait for the address
// translation of each record.

constexpr std::size_t own_words = 8;                                ///< words of bits in the page record itself
constexpr std::size_t long_words = 64;                              ///< words of bits elsewhere in the head
constexpr std::size_t blocks_per_page = long_words * bits_per_word; ///< maximum

/// Number of slices in a page of the class: enough for at least eight blocks. A page held by a few blocks is what a
/// heap wastes when its sizes drift.
[[nodiscard]] constexpr std::size_t slices_of_page(std::size_t class_index) noexcept {
    const std::size_t bytes = std::bit_ceil(class_bytes(class_index));
    return bytes <= slice_bytes / 8 ? 1 : bytes / (slice_bytes / 8);
}

// Replaces division by a class's size with one multiplication: 2^32 divided by the size, rounded up.
constexpr int inverse_bits = 32;
constexpr auto inverse_of_class = [] {
    std::array<std::uint32_t, small_class_count> inverses{};
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const std::uint64_t bytes = class_bytes(index);
        inverses[index] = static_cast<std::uint32_t>(((std::uint64_t{1} << inverse_bits) + bytes - 1) / bytes);
    }
    return inverses;
}();

class heap_shard;

/// A page of blocks of one class. The owner's lock guards everything except `owner` and the fields that do not change
/// while the page is in use.
struct alignas(cache_line_bytes) small_page {
    std::uintptr_t begin;
    bit_word words_with_free; ///< one bit per nonzero word of bits
    small_page* next;         ///< in the owner's list of pages with available blocks
    small_page* previous;
    std::atomic<heap_shard*> owner;
    std::uint32_t block_bytes;
    std::uint16_t capacity;
    std::uint16_t free_count; ///< number of bits that are set
    std::uint8_t words_used;  ///< words whose blocks have been allocated at least once
    std::uint8_t class_index;
    bool is_listed;
    bit_word* bits; ///< one bit per block that was allocated and freed: own_bits, or the segment's long bits
    alignas(cache_line_bytes) bit_word own_bits[own_words];

    [[nodiscard]] std::size_t word_count() const noexcept { return words_for(capacity); }
    [[nodiscard]] std::size_t blocks_used() const noexcept {
        const std::size_t used = std::size_t{words_used} * bits_per_word;
        return used < capacity ? used : capacity;
    }
    [[nodiscard]] bool has_blocks() const noexcept { return free_count != 0 || blocks_used() != capacity; }
    [[nodiscard]] bool is_empty() const noexcept { return free_count == blocks_used(); }
    [[nodiscard]] void* block(std::size_t index) const noexcept { return pointer_at(begin + index * block_bytes); }
    /// Whether the block was allocated and not returned to the page. A block in a thread's cache counts as handed out.
    [[nodiscard]] bool is_allocated(std::size_t index) const noexcept {
        return index < blocks_used() && (bits[index / bits_per_word] & bit_at(index)) == 0;
    }
};
static_assert(sizeof(small_page) == 2 * cache_line_bytes);

/// Whether a page of the class has more blocks than own bits.
[[nodiscard]] constexpr bool has_long_bits(std::size_t class_index) noexcept {
    return class_bytes(class_index) * own_words * bits_per_word < slice_bytes;
}

/// A block's page and its bits: enough to compute the number of any block in the page.
struct block_page {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0; ///< maximum, up to the end of the page
    std::uint64_t inverse = 0;
    small_page* page = nullptr;
    bit_word* bits = nullptr;

    [[nodiscard]] bool contains(const void* block) const noexcept { return address_of(block) - begin < bytes; }
    /// Requires  the block belongs to the page.
    [[nodiscard]] std::size_t number_of(const void* block) const noexcept {
        return ((address_of(block) - begin) * inverse) >> inverse_bits;
    }
};

struct heap_segment : segment_head {
    std::uint16_t first_slice[max_slices]; ///< first slice of the page that the slice belongs to
    heap_segment* next;                    ///< in the order of acquisition
    heap_segment* next_free;               ///< in the list of segments with free slices
    std::size_t free_count;                ///< number of free slices
    bool is_listed_free;
    // For slices without a page: those touched since the system delivered them, and those found touched by the last
    // sweep.
    bit_word free_slices[max_slices / bits_per_word];
    bit_word dirty_slices[max_slices / bits_per_word];
    bit_word stale_slices[max_slices / bits_per_word];
    small_page pages[max_slices]; ///< by first slice; as many as the segment has slices, then the long bits

    /// Number of slices that the head takes in a segment of this size.
    [[nodiscard]] static constexpr std::size_t head_slices(std::size_t segment_bytes) noexcept {
        constexpr std::size_t fixed = sizeof(segment_head) + max_slices * 2 + 3 * max_slices / 8 + 4 * 64;
        constexpr std::size_t each = sizeof(small_page) + long_words * sizeof(bit_word);
        return (fixed + segment_bytes / slice_bytes * each + slice_bytes - 1) / slice_bytes;
    }
    /// The bits of a page with more blocks than own bits.
    [[nodiscard]] bit_word* long_bits(std::size_t slice, std::size_t segment_bytes) noexcept {
        return static_cast<bit_word*>(static_cast<void*>(pages + segment_bytes / slice_bytes)) + slice * long_words;
    }
    /// Requires  the block belongs to a page.
    [[nodiscard]] static small_page& page_of(const void* block, std::size_t segment_bytes) noexcept {
        auto* const segment = static_cast<heap_segment*>(segment_head::of(block, segment_bytes));
        return segment->pages[segment->first_slice[slice_of(block, segment_bytes)]];
    }
    /// The block's page and its bits. Reads the page record only if the page belongs to a tag.
    [[nodiscard]] static block_page place_of(const void* block, std::size_t segment_bytes) noexcept {
        auto* const segment = static_cast<heap_segment*>(segment_head::of(block, segment_bytes));
        const std::size_t slice = slice_of(block, segment_bytes), first = segment->first_slice[slice];
        small_page& page = segment->pages[first];
        const std::size_t number = segment->class_of_slice[slice];
        const std::size_t class_index = number < small_class_count ? number : page.class_index;
        bit_word* const bits = has_long_bits(class_index) ? segment->long_bits(first, segment_bytes) : page.own_bits;
        return {address_of(segment) + first * slice_bytes, (slice - first + 1) * slice_bytes,
                inverse_of_class[class_index], &page, bits};
    }
};
static_assert(sizeof(heap_segment) <= heap_segment::head_slices(max_segment_bytes) * slice_bytes);

}
