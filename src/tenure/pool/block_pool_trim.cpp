// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// How a block_pool returns memory to its source.

#include <algorithm>

#include <tenure/engine/free_runs.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/block_pool.hpp>

namespace tenure::inline TENURE_ABI {

using detail::segment;

std::size_t block_pool::trim_segment(segment* which) noexcept {
    detail::free_runs runs(source_);
    const std::uintptr_t begin = which->blocks(layout_);
    const std::size_t stride = layout_.stride_bytes;
    for (std::size_t word = 0; word < which->groups_touched; ++word) {
        const std::size_t count = segment::group_size(layout_, word);
        bit_word free = word < which->groups_used ? which->level0(layout_)[word] : low_bits(count);
        std::size_t bit = 0;
        while (free != 0) {
            const std::size_t skipped = lowest_bit(free);
            free >>= skipped;
            bit += skipped;
            const std::size_t length = lowest_bit(~free);
            const std::uintptr_t first = begin + (word * bits_per_word + bit) * stride;
            runs.add(first, first + std::min(length, count) * stride);
            free = length >= bits_per_word ? 0 : free >> length;
            bit += length;
        }
    }
    if constexpr (checks::caller) {
        const std::size_t used = std::min(which->groups_used * bits_per_word, layout_.capacity);
        const std::size_t touched = std::min(which->groups_touched * bits_per_word, layout_.capacity);
        platform::unpoison(pointer_at(begin + used * stride), (touched - used) * stride);
    }
    which->groups_touched = which->groups_used;
    return runs.finish();
}

std::size_t block_pool::trim_all() noexcept {
    settle();
    std::size_t bytes = 0;
    partial_ = nullptr;
    last_ = nullptr;
    for (segment** link = &first_; *link != nullptr;) {
        segment* const each = *link;
        const std::size_t handed = std::min(each->groups_used * bits_per_word, layout_.capacity);
        std::size_t free = 0;
        for (std::size_t word = 0; word < each->groups_used; ++word) free += count_bits(each->level0(layout_)[word]);
        if (free == handed) {
            *link = each->next;
            allocated_ -= handed;
            free_in_bits_ -= free;
            --segment_count_;
            bytes += layout_.segment_bytes;
            release_segment(each);
            continue;
        }
        if (!each->is_trimmed || each->free_at_trim != free) bytes += trim_segment(each);
        each->is_trimmed = true;
        each->free_at_trim = static_cast<std::uint32_t>(free);
        each->is_partial = false;
        if (free != 0) make_partial(each);
        last_ = each;
        link = &each->next;
    }
    bump_ = first_;
    return bytes;
}

}
