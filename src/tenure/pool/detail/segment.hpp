// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A naturally aligned memory segment of equal blocks, with bits that mark the free ones.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

// The layout of a segment, at an address that is a multiple of its size:
//
//   | header | level 2 | level 1 | level 0: a bit per block | blocks, used in groups of 64 ... | not yet touched |
//
// Level 0 has a bit per block, set when the block is free. Level 1 has a bit per nonzero word of level 0, and level 2 a
// bit per nonzero word of level 1. So three look-ups find the free block with the lowest address. A free touches level
// 1 only when its word was empty before. No block is linked or touched in advance.

/// The layout of every segment of one pool. Computed once from the size of a block and of a segment.
struct segment_layout {
    std::size_t segment_bytes = 0;
    std::size_t stride_bytes = 0;  ///< from one block to the next
    std::size_t blocks_offset = 0; ///< of the first block
    std::size_t capacity = 0;      ///< blocks in a segment
    std::size_t word_count = 0;    ///< of level 0
    std::size_t level1_words = 0;
    std::size_t level2_words = 0;
    std::size_t level0_offset = 0;
    std::uint64_t inverse = 0; ///< 2^32 / stride, rounded up: replaces division by the stride with a multiplication

    /// The index of the block at `offset` bytes past the first one. Exact for multiples of the stride below 4 GiB.
    [[nodiscard]] std::size_t index_of(std::size_t offset) const noexcept { return (offset * inverse) >> 32; }

    /// A layout with room for at least one block; capacity is zero when the segment is too small for that.
    [[nodiscard]] static segment_layout of(std::size_t segment_bytes, std::size_t stride_bytes,
                                           std::size_t alignment) noexcept;
};

struct segment {
    segment* next;              ///< in the order in which they were acquired
    segment* next_partial;      ///< in the list of segments that have free bits
    std::size_t groups_used;    ///< words of level 0 whose blocks have been used at least once
    std::size_t groups_touched; ///< maximum of groups_used since pages were last decommitted
    bool is_partial;            ///< in that list
    bool is_trimmed;            ///< no refill since a trim that found free_at_trim free blocks
    std::uint32_t free_at_trim;
    std::uint64_t canary; ///< identifies a segment of this pool, in checked builds

    [[nodiscard]] bit_word* level2() noexcept {
        return static_cast<bit_word*>(pointer_at(address_of(this) + sizeof(segment)));
    }
    [[nodiscard]] bit_word* level1(const segment_layout& layout) noexcept { return level2() + layout.level2_words; }
    [[nodiscard]] bit_word* level0(const segment_layout& layout) noexcept {
        return static_cast<bit_word*>(pointer_at(address_of(this) + layout.level0_offset));
    }
    [[nodiscard]] std::uintptr_t blocks(const segment_layout& layout) const noexcept {
        return address_of(this) + layout.blocks_offset;
    }
    [[nodiscard]] static segment* of(const void* block, std::size_t segment_bytes) noexcept {
        return static_cast<segment*>(pointer_at(align_down(address_of(block), segment_bytes)));
    }

    /// Enters a word of level 0 in levels 1 and 2, because it has a free block.
    void summarise(const segment_layout& layout, std::size_t word) noexcept;
    /// Takes a word of level 0 out of levels 1 and 2, because it has none.
    void forget_word(const segment_layout& layout, std::size_t word) noexcept;

    [[nodiscard]] bool has_free(const segment_layout& layout) noexcept;
    /// The lowest word of level 0 that has free blocks. Requires  has_free().
    [[nodiscard]] std::size_t lowest_word(const segment_layout& layout) noexcept;

    /// The number of blocks in a group: 64, fewer in a segment's last group.
    [[nodiscard]] static std::size_t group_size(const segment_layout& layout, std::size_t word) noexcept {
        const std::size_t left = layout.capacity - word * bits_per_word;
        return left < bits_per_word ? left : bits_per_word;
    }
    /// Resets all blocks to unused; the pages stay.
    void forget(const segment_layout& layout) noexcept;
    [[nodiscard]] bool valid(const segment_layout& layout, std::size_t& free_count) noexcept;
};
static_assert(sizeof(segment) <= cache_line_bytes);

}
