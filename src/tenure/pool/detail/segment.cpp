// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/segment.hpp>

#include <cstring>

#include <tenure/engine/tail_guard.hpp>

namespace tenure::inline TENURE_ABI::detail {

segment_layout segment_layout::of(std::size_t segment_bytes, std::size_t stride_bytes, std::size_t alignment) noexcept {
    segment_layout layout;
    layout.segment_bytes = segment_bytes;
    layout.stride_bytes = stride_bytes;
    layout.inverse = ((std::uint64_t{1} << 32) + stride_bytes - 1) / stride_bytes;
    // Reserve bits for as many blocks as would fit without bits: at most a few too many.
    const std::size_t most = segment_bytes / stride_bytes;
    layout.word_count = words_for(most);
    layout.level1_words = words_for(layout.word_count);
    layout.level2_words = words_for(layout.level1_words);
    const std::size_t summary_bytes = (layout.level1_words + layout.level2_words) * sizeof(bit_word);
    layout.level0_offset = align_up(sizeof(segment) + summary_bytes, cache_line_bytes);
    // In checked builds a guard is in front of the first block, too.
    const std::size_t bits_end = layout.level0_offset + layout.word_count * sizeof(bit_word) + tail_guard_bytes;
    layout.blocks_offset = align_up(bits_end, alignment > cache_line_bytes ? alignment : cache_line_bytes);
    if (layout.blocks_offset >= segment_bytes) return layout;
    layout.capacity = (segment_bytes - layout.blocks_offset) / stride_bytes;
    layout.word_count = words_for(layout.capacity);
    return layout;
}

void segment::summarise(const segment_layout& layout, std::size_t word) noexcept {
    const std::size_t parent = word / bits_per_word;
    level1(layout)[parent] |= bit_at(word);
    level2()[parent / bits_per_word] |= bit_at(parent);
}

void segment::forget_word(const segment_layout& layout, std::size_t word) noexcept {
    const std::size_t parent = word / bits_per_word;
    level1(layout)[parent] &= ~bit_at(word);
    if (level1(layout)[parent] == 0) level2()[parent / bits_per_word] &= ~bit_at(parent);
}

bool segment::has_free(const segment_layout& layout) noexcept {
    for (std::size_t index = 0; index < layout.level2_words; ++index) {
        if (level2()[index] != 0) return true;
    }
    return false;
}

std::size_t segment::lowest_word(const segment_layout& layout) noexcept {
    std::size_t top = 0;
    while (level2()[top] == 0) ++top;
    const std::size_t parent = top * bits_per_word + lowest_bit(level2()[top]);
    return parent * bits_per_word + lowest_bit(level1(layout)[parent]);
}

void segment::forget(const segment_layout& layout) noexcept {
    std::memset(level2(), 0, (layout.level1_words + layout.level2_words) * sizeof(bit_word));
    std::memset(level0(layout), 0, groups_used * sizeof(bit_word));
    groups_used = 0;
    is_partial = false;
    is_trimmed = false;
}

bool segment::valid(const segment_layout& layout, std::size_t& free_count) noexcept {
    if (groups_used > layout.word_count || groups_used > groups_touched) return false;
    for (std::size_t word = 0; word < layout.word_count; ++word) {
        const bit_word bits = level0(layout)[word];
        const std::size_t parent = word / bits_per_word;
        const bool summarised = (level1(layout)[parent] & bit_at(word)) != 0;
        const bool in_level2 = (level2()[parent / bits_per_word] & bit_at(parent)) != 0;
        if (summarised != (bits != 0) || (summarised && !in_level2)) return false;
        const bit_word possible = word < groups_used ? low_bits(group_size(layout, word)) : 0;
        if ((bits & ~possible) != 0) return false;
        free_count += count_bits(bits);
    }
    return is_partial || !has_free(layout);
}

}
