// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Functions that read a whole offset allocator: figures, JSON for drawing, and the consistency check.

#include <algorithm>
#include <bit>

#include <tenure/base/bits.hpp>
#include <tenure/base/report.hpp>
#include <tenure/offset/offset_allocator.hpp>

namespace tenure::inline TENURE_ABI {

// Queries write nothing. Up to two deallocated ranges are pending: still in the list of ranges as if they were
// allocated. Queries count them as free.

/// Whether a range of the list is free or pending.
bool offset_allocator::is_vacant(std::uint32_t which) const noexcept {
    const record& range = at(which);
    const bool is_next = range.what == in_use && offset_range{range.offset, which} == leaves_next_;
    return range.is_free() || range.what == leaves || is_next;
}

/// Changes figures that count the pending ranges as allocated to those after settle().
void offset_allocator::add_pending(offset_usage& to) const noexcept {
    std::uint64_t counted_begin = UINT64_MAX;
    for (const std::uint32_t pending : {leaves_first_, is_allocated(leaves_next_) ? leaves_next_.id : none}) {
        if (pending == none) continue;
        to.free += at(pending).size;
        --to.range_count;
        // The range that it becomes part of: at most both pending ranges, three free ones, and gaps.
        std::uint32_t each = pending;
        while (at(each).left != none && is_vacant(at(each).left)) each = at(each).left;
        const std::uint64_t begin = at(each).left != none ? at(at(each).left).end() : 0;
        if (begin == counted_begin) continue; // both become part of the same range
        counted_begin = begin;
        std::uint64_t end = begin;
        std::size_t replaced = 0; // free ranges and gaps
        for (; each != none && is_vacant(each); each = at(each).right) {
            replaced += std::size_t{at(each).offset != end} + std::size_t{at(each).is_free()};
            end = at(each).end();
        }
        const std::uint64_t limit = each != none ? at(each).offset : capacity_;
        replaced += std::size_t{limit != end};
        to.free_count = to.free_count + 1 - replaced;
        to.largest_free = std::max(to.largest_free, limit - begin);
    }
}

offset_usage offset_allocator::usage() const noexcept {
    offset_usage answer;
    answer.capacity = capacity_;
    answer.free = capacity_ - allocated_;
    answer.waiting = waiting_;
    answer.range_count = range_count_;
    answer.free_count = first_ != none ? range_slots_ - range_count_ + gap_count_ : std::size_t{capacity_ != 0};
    answer.record_bytes = slot_room_ * sizeof(slot);
    answer.largest_free = first_ != none ? 0 : capacity_;
    if (top_bits_ != 0) {
        const std::size_t top = static_cast<std::size_t>(std::bit_width(top_bits_)) - 1;
        const bin& of = bins_[(top << eighths_shift) + static_cast<std::size_t>(std::bit_width(bin_bits_[top])) - 1];
        std::uint32_t count = of.count;
        for (std::uint32_t part = of.first; part != none; part = slots_[part].free.below(), count = ids_in_piece)
            for (std::uint32_t i = 0; i < count; ++i)
                answer.largest_free = std::max(answer.largest_free, at(slots_[part].free.ids[i]).size);
    }
    if (gap_count_ != 0 && answer.largest_free < gap_bound_)
        answer.largest_free = std::max(answer.largest_free, largest_gap());
    add_pending(answer);
    return answer;
}

void offset_allocator::write_json(void (*write)(void* context, std::string_view piece), void* context) const {
    const offset_usage now = usage();
    report_text head;
    head.text("{\"capacity\": ").number(now.capacity).text(", \"free\": ").number(now.free);
    head.text(", \"largest_free\": ").number(now.largest_free).text(", \"waiting\": ").number(now.waiting);
    head.text(", \"range_count\": ").number(now.range_count).text(", \"free_count\": ").number(now.free_count);
    head.text(", \"ranges\": [");
    write(context, head.view());
    for_each_range([&](std::uint64_t offset, std::uint64_t size, const record* range) {
        report_text line;
        line.text(offset == 0 ? "\n" : ",\n").text("{\"offset\": ").number(offset).text(", \"size\": ").number(size);
        const std::string_view held = range != nullptr && range->what == waits ? "waiting" : "allocated";
        line.text(", \"state\": \"").text(range == nullptr ? "free" : held).text("\"}");
        write(context, line.view());
    });
    write(context, "\n]}\n");
}

bool offset_allocator::valid() const noexcept {
    std::uint64_t end = 0, allocated = 0, waiting = 0;
    std::size_t ranges = 0, free_ranges = 0, waiting_ranges = 0, leaving_ranges = 0, gaps = 0;
    std::uint32_t before = none;
    const auto is_gap_right = [&](std::uint64_t size) { // after a range that is not free, and within the bound
        ++gaps;
        return size <= gap_bound_ && before != none && !at(before).is_free();
    };
    for (std::uint32_t id = first_; id != none; before = id, id = at(id).right) {
        if (id >= slot_count_ || ranges + free_ranges > slot_count_) return false; // the list has a cycle
        const record& range = at(id);
        const bool follows_free = before != none && at(before).is_free();
        if (range.left != before || range.offset < end || range.size == 0 || range.what >= unused) return false;
        if (range.is_free() && (follows_free || range.offset != end)) return false;
        if (range.offset != end && !is_gap_right(range.offset - end)) return false;
        end = range.end();
        allocated += range.is_free() ? 0 : range.size;
        waiting += range.what == waits ? range.size : 0;
        waiting_ranges += std::size_t{range.what == waits};
        leaving_ranges += std::size_t{range.what == leaves};
        ++(range.is_free() ? free_ranges : ranges);
    }
    if (before != last_ || end > capacity_) return false;
    if (first_ != none && end != capacity_ && !is_gap_right(capacity_ - end)) return false;
    if (ranges != range_count_ || ranges + free_ranges != range_slots_ || gaps != gap_count_) return false;
    if (allocated != allocated_ || waiting != waiting_ || waiting_ranges != waiting_count_) return false;
    std::size_t in_bins = 0, pieces = 0;
    for (std::size_t of = 0; of < bin_count; ++of) {
        const bool is_noted = (bin_bits_[of >> eighths_shift] >> (of & ((1u << eighths_shift) - 1)) & 1) != 0;
        std::uint32_t count = bins_[of].count;
        if (is_noted != (bins_[of].first != none) || count == 0 || count > ids_in_piece) return false;
        for (std::uint32_t part = bins_[of].first; part != none;
             part = slots_[part].free.below(), count = ids_in_piece) {
            if (part >= slot_count_ || ++pieces > slot_count_) return false;
            for (std::uint32_t i = 0; i < count; ++i, ++in_bins) {
                const std::uint32_t id = slots_[part].free.ids[i];
                if (id >= slot_count_ || at(id).link != part || at(id).what != (of << place_shift) + i) return false;
                if (bin_of(at(id).size) != of) return false;
            }
        }
    }
    for (std::size_t top = 0; top < sizeof bin_bits_; ++top) {
        if (((top_bits_ >> top & 1) != 0) != (bin_bits_[top] != 0)) return false;
    }
    std::size_t waiting_listed = 0;
    for (std::uint32_t id : waiting_of_)
        for (; id != none; id = at(id).link, ++waiting_listed)
            if (id >= slot_count_ || waiting_listed > slot_count_ || at(id).what != waits) return false;
    if (leaves_first_ != none && (leaves_first_ >= slot_count_ || at(leaves_first_).what != leaves)) return false;
    if (leaving_ranges != std::size_t{leaves_first_ != none}) return false;
    std::size_t spare = 0;
    for (std::uint32_t id = spare_; id != none; id = at(id).link, ++spare)
        if (id >= slot_count_ || spare > slot_count_ || at(id).what != unused) return false;
    return in_bins == free_ranges && waiting_listed == waiting_count_ &&
           spare + pieces + ranges + free_ranges == slot_count_;
}

}
