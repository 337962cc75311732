// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What looks at an offset allocator as a whole: figures, a picture, and whether all is consistent.

#include <algorithm>
#include <bit>

#include <tenure/base/bits.hpp>
#include <tenure/base/report.hpp>
#include <tenure/offset/offset_allocator.hpp>

namespace tenure::inline TENURE_ABI {

offset_usage offset_allocator::usage() const noexcept {
    offset_usage answer;
    answer.capacity = capacity_;
    answer.free = first_ == none ? capacity_ : free_;
    answer.waiting = waiting_;
    answer.range_count = range_count_;
    answer.free_count = first_ == none && capacity_ != 0 ? 1 : free_count_;
    answer.record_bytes = record_room_ * sizeof(record);
    answer.largest_free = first_ == none ? capacity_ : 0;
    if (top_bits_ == 0) return answer;
    std::size_t const top = static_cast<std::size_t>(std::bit_width(top_bits_)) - 1;
    std::size_t const bin = (top << eighths_shift) + static_cast<std::size_t>(std::bit_width(bin_bits_[top])) - 1;
    for (std::uint32_t at = bins_[bin]; at != none; at = records_[at].next)
        answer.largest_free = std::max(answer.largest_free, records_[at].size);
    return answer;
}

void offset_allocator::write_json(void (*write)(void* context, std::string_view piece), void* context) const {
    offset_usage const now = usage();
    report_text head;
    head.text("{\"capacity\": ").number(now.capacity).text(", \"free\": ").number(now.free);
    head.text(", \"largest_free\": ").number(now.largest_free).text(", \"waiting\": ").number(now.waiting);
    head.text(", \"range_count\": ").number(now.range_count).text(", \"free_count\": ").number(now.free_count);
    head.text(", \"ranges\": [");
    write(context, head.view());
    if (first_ == none && capacity_ != 0) {
        report_text line;
        line.text("\n{\"offset\": 0, \"size\": ").number(capacity_).text(", \"state\": \"free\"}");
        write(context, line.view());
    }
    for (std::uint32_t at = first_; at != none; at = records_[at].right) {
        record const& range = records_[at];
        report_text line;
        line.text(at == first_ ? "\n" : ",\n").text("{\"offset\": ").number(range.offset);
        line.text(", \"size\": ").number(range.size).text(", \"state\": \"");
        line.text(is_free(at) ? "free" : range.previous == waits ? "waiting" : "allocated").text("\"}");
        write(context, line.view());
    }
    write(context, "\n]}\n");
}

bool offset_allocator::valid() const noexcept {
    std::uint64_t end = 0, free = 0, waiting = 0;
    std::size_t ranges = 0, free_ranges = 0, waiting_ranges = 0;
    std::uint32_t before = none;
    for (std::uint32_t at = first_; at != none; before = at, at = records_[at].right) {
        record const& range = records_[at];
        bool const follows_free = before != none && is_free(before);
        if (at >= record_count_ || range.left != before || range.offset != end || range.size == 0) return false;
        if (is_free(at) && follows_free) return false;
        end += range.size;
        free += is_free(at) ? range.size : 0;
        waiting += range.previous == waits ? range.size : 0;
        waiting_ranges += std::size_t{range.previous == waits};
        ++(is_free(at) ? free_ranges : ranges);
    }
    bool const is_open = first_ != none;
    if (before != last_ || (is_open && end != capacity_)) return false;
    if (ranges != range_count_ || free_ranges != free_count_ || waiting_ranges != waiting_count_) return false;
    if (free != free_ || waiting != waiting_) return false;
    std::size_t in_bins = 0;
    for (std::size_t bin = 0; bin < bin_count; ++bin) {
        bool const is_noted = (bin_bits_[bin >> eighths_shift] >> (bin & ((1u << eighths_shift) - 1)) & 1) != 0;
        if (is_noted != (bins_[bin] != none)) return false;
        std::uint32_t previous = none;
        for (std::uint32_t at = bins_[bin]; at != none; previous = at, at = records_[at].next, ++in_bins) {
            if (at >= record_count_ || in_bins > record_count_) return false; // it goes in circles
            if (records_[at].previous != previous || bin_of(records_[at].size) != bin) return false;
        }
    }
    for (std::size_t top = 0; top < sizeof bin_bits_; ++top) {
        if (((top_bits_ >> top & 1) != 0) != (bin_bits_[top] != 0)) return false;
    }
    std::size_t waiting_listed = 0;
    for (std::uint32_t at : waiting_of_)
        for (; at != none; at = records_[at].next, ++waiting_listed)
            if (at >= record_count_ || waiting_listed > record_count_ || records_[at].previous != waits) return false;
    std::size_t spare = 0;
    for (std::uint32_t at = spare_; at != none; at = records_[at].next, ++spare)
        if (at >= record_count_ || spare > record_count_) return false;
    return in_bins == free_count_ && waiting_listed == waiting_count_ && spare == spare_count_ &&
           spare + ranges + free_ranges == record_count_;
}

}
