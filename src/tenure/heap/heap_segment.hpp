// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Naturally aligned runs of pages of small blocks, and the bits that say which blocks are free. Private to this room.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A segment as it lies in memory, at a multiple of its size:
//
//   | classes: a byte per slice | first slices | pages: a line per slice | bits: 512 bytes per slice | slices of 64 KiB
//   |
//
// A page is one slice, or eight for blocks past 4 KiB. A free masks the pointer and reads the class of its slice; only
// when its cache is full does it look at the page and the bits. So blocks have no header, a free does not touch them,
// and the bytes that it reads of five million blocks fit in the first cache.

constexpr std::size_t slice_bytes = std::size_t{64} * 1024;
constexpr std::size_t heap_segment_bytes = std::size_t{32} << 20;
constexpr std::size_t slices_per_segment = heap_segment_bytes / slice_bytes;
constexpr std::size_t words_per_page = 64;
constexpr std::size_t blocks_per_page = words_per_page * bits_per_word; ///< at most
constexpr std::uint8_t no_class = 63;                                   ///< of a slice that holds no small blocks

[[nodiscard]] constexpr std::size_t slices_of_page(std::size_t class_index) noexcept {
    return class_bytes(class_index) <= 4096 ? 1 : 8;
}

class heap_shard;

/// A page of blocks of one class. Its owner's lock is for everything but `owner` and what is constant while it is used.
struct alignas(cache_line_bytes) small_page {
    std::uintptr_t begin;
    bit_word words_with_free; ///< a bit per word of bits that is not zero
    small_page* next;         ///< among the owner's pages that have blocks to give
    small_page* previous;
    std::atomic<heap_shard*> owner;
    std::uint32_t block_bytes;
    std::uint32_t inverse; ///< 2^32 / block_bytes, rounded up: division by it as one multiplication
    std::uint16_t capacity;
    std::uint16_t free_count; ///< bits that are set
    std::uint8_t words_used;  ///< words whose blocks have been handed out, once at least
    std::uint8_t class_index;
    bool is_listed;

    [[nodiscard]] std::size_t word_count() const noexcept { return words_for(capacity); }
    [[nodiscard]] std::size_t blocks_used() const noexcept {
        std::size_t const used = std::size_t{words_used} * bits_per_word;
        return used < capacity ? used : capacity;
    }
    [[nodiscard]] bool has_blocks() const noexcept { return free_count != 0 || blocks_used() != capacity; }
    /// The number of the block that begins `offset` bytes behind the page's begin; exact for multiples of its size.
    [[nodiscard]] std::size_t index_of(std::size_t offset) const noexcept { return (offset * inverse) >> 32; }
};
static_assert(sizeof(small_page) == cache_line_bytes);

struct heap_segment {
    std::uint8_t class_of_slice[slices_per_segment];
    std::uint16_t first_slice[slices_per_segment]; ///< of the page that the slice is in
    heap_segment* next;                            ///< in the order in which they were taken
    bit_word free_slices[slices_per_segment / bits_per_word];
    small_page pages[slices_per_segment]; ///< by their first slice
    bit_word bits[slices_per_segment][words_per_page];

    [[nodiscard]] static heap_segment* of(const void* block) noexcept {
        return static_cast<heap_segment*>(pointer_at(align_down(address_of(block), heap_segment_bytes)));
    }
    [[nodiscard]] static std::size_t slice_of(const void* block) noexcept {
        return (address_of(block) & (heap_segment_bytes - 1)) / slice_bytes;
    }
    /// Requires  the block is of a page.
    [[nodiscard]] small_page& page_of(const void* block) noexcept { return pages[first_slice[slice_of(block)]]; }
    [[nodiscard]] bit_word* bits_of(const small_page& page) noexcept { return bits[&page - pages]; }
};
constexpr std::size_t header_slices = (sizeof(heap_segment) + slice_bytes - 1) / slice_bytes;

}
