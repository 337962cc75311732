// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// How a block_pool returns memory to its source.

#include <algorithm>

#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/block_pool.hpp>

namespace tenure::inline TENURE_ABI {

using detail::segment;

namespace {

/// Joins runs of free blocks, and decommits the OS pages of each joined run.
class free_runs {
public:
    explicit free_runs(block_source& source) noexcept : source_(source) {}

    void add(std::uintptr_t begin, std::uintptr_t end) noexcept {
        if (begin != end_) give_back();
        if (begin != end_) begin_ = begin;
        end_ = end;
    }
    /// Returns the total of decommitted bytes.
    std::size_t finish() noexcept {
        give_back();
        return bytes_;
    }

private:
    void give_back() noexcept {
        std::uintptr_t const first = align_up(begin_, platform::page_bytes());
        std::uintptr_t const last = align_down(end_, platform::page_bytes());
        if (first < last && source_.decommit(pointer_at(first), last - first)) bytes_ += last - first;
        begin_ = end_ = 0;
    }

    block_source& source_;
    std::uintptr_t begin_ = 0;
    std::uintptr_t end_ = 0;
    std::size_t bytes_ = 0;
};

}

std::size_t block_pool::trim_segment(segment* which) noexcept {
    free_runs runs(source_);
    std::uintptr_t const begin = which->blocks(layout_);
    std::size_t const stride = layout_.stride_bytes;
    for (std::size_t word = 0; word < which->groups_touched; ++word) {
        std::size_t const count = segment::group_size(layout_, word);
        bit_word free = word < which->groups_used ? which->level0(layout_)[word] : low_bits(count);
        std::size_t bit = 0;
        while (free != 0) {
            std::size_t const skipped = lowest_bit(free);
            free >>= skipped;
            bit += skipped;
            std::size_t const length = lowest_bit(~free);
            std::uintptr_t const first = begin + (word * bits_per_word + bit) * stride;
            runs.add(first, first + std::min(length, count) * stride);
            free = length >= bits_per_word ? 0 : free >> length;
            bit += length;
        }
    }
    if constexpr (checks::caller) {
        std::size_t const used = std::min(which->groups_used * bits_per_word, layout_.capacity);
        std::size_t const touched = std::min(which->groups_touched * bits_per_word, layout_.capacity);
        platform::unpoison(pointer_at(begin + used * stride), (touched - used) * stride);
    }
    which->groups_touched = which->groups_used;
    return runs.finish();
}

std::size_t block_pool::trim() noexcept {
    settle();
    std::size_t bytes = 0;
    partial_ = nullptr;
    last_ = nullptr;
    for (segment** link = &first_; *link != nullptr;) {
        segment* const each = *link;
        std::size_t const handed = std::min(each->groups_used * bits_per_word, layout_.capacity);
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
