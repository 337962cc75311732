// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model: a map of the ranges that are held, by offset; what lies between them is free.

#include <tenure/offset/offset_allocator.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/frame_clock.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "offset/walked.hpp"
#include "support/model.hpp"

namespace {

using support::max_capacity;
using support::step;
using support::walked_range;
using tenure::offset_allocator;
using tenure::offset_range;

/// What a stream is made of: how large the memory is, how large the requests and their alignments may be, and how small
/// the requests of every second thousand of steps.
struct scale {
    std::uint64_t capacity;
    unsigned size_bits;
    unsigned alignment_bits;
    std::uint64_t least = 0;
};

class offsets_against_model {
public:
    explicit offsets_against_model(const scale& of) : scale_(of), capacity_(of.capacity), ranges_(of.capacity) {}

    std::string run(const step& each) {
        switch (each.kind % 64) {
        case 0: return each.first % 4 == 0 ? clear() : std::string{};
        case 1:
        case 2: return grow(each);
        case 3:
        case 4: return shrink(each);
        case 5:
        case 6:
        case 7:
        case 8: return end_frames(each);
        case 9: return collect();
        default: break;
        }
        if (each.kind % 64 < 18) return deallocate_after(each);
        // Filled for a while and emptied for a while, so that it is seen nearly full and nearly empty.
        const std::uint64_t half = each.kind / 64 % 8;
        return half < (is_filling() ? 5u : 3u) ? allocate(each) : deallocate(each);
    }

    std::string check() {
        if (!ranges_.valid()) return "the allocator is not valid";
        if (support::walked(ranges_) != expected()) return "the walk is not what is held";
        const tenure::offset_usage seen = ranges_.usage();
        std::uint64_t free = 0, largest = 0, waiting = 0;
        std::size_t free_count = 0;
        for (const walked_range& range : expected()) {
            free += range.is_free ? range.size : 0;
            free_count += range.is_free;
            largest = std::max(largest, range.is_free ? range.size : 0);
        }
        for (const auto& [offset, range] : held_) waiting += range.due != never ? range.size : 0;
        if (seen.capacity != capacity_ || ranges_.capacity() != capacity_) return "the capacity is another";
        if (seen.free != free || seen.free_count != free_count) return "the free ranges are counted wrongly";
        if (seen.largest_free != largest) return "the largest free range is another";
        if (seen.range_count != held_.size()) return "the allocated ranges are counted wrongly";
        return seen.waiting == waiting ? "" : "what waits is counted wrongly";
    }

    std::string finish() {
        for (const auto& [offset, range] : held_)
            if (range.due == never) ranges_.deallocate(range.range);
        for (unsigned frame = 0; frame < offset_allocator::max_latency; ++frame) tenure::next_frame();
        ranges_.collect();
        held_.clear();
        return check();
    }

private:
    static constexpr std::uint64_t never = UINT64_MAX;
    struct held {
        offset_range range;
        std::uint64_t size;
        std::uint64_t due = never;
    };

    [[nodiscard]] bool is_filling() { return ++steps_ / 200 % 2 == 0; }

    [[nodiscard]] std::vector<walked_range> expected() const {
        std::vector<walked_range> all;
        std::uint64_t end = 0;
        for (const auto& [offset, range] : held_) {
            if (offset != end) all.push_back({end, offset - end, true});
            all.push_back({offset, range.size, false});
            end = offset + range.size;
        }
        if (end != capacity_) all.push_back({end, capacity_ - end, true});
        return all;
    }

    [[nodiscard]] bool fits_somewhere(std::uint64_t size, std::uint64_t alignment) const {
        for (const walked_range& range : expected()) {
            const std::uint64_t first = (range.offset + alignment - 1) / alignment * alignment;
            const std::uint64_t end = range.offset + range.size;
            if (range.is_free && first <= end && end - first >= size) return true;
        }
        return false;
    }

    std::size_t free_what_is_due() {
        return std::erase_if(held_, [](const auto& each) { return each.second.due <= tenure::frame_clock::now(); });
    }

    std::string collect() {
        return ranges_.collect() == free_what_is_due() ? "" : "collect() freed others than those that are due";
    }

    std::string allocate(const step& each) {
        support::random numbers(each.first);
        const std::uint64_t limit = std::uint64_t{1} << numbers.below(scale_.size_bits + 1);
        // Often a round size and its neighbours: that is where bins begin and end.
        const std::uint64_t any = numbers.one_in(3) ? limit + numbers.below(3) - 1 : numbers.below(limit) + 1;
        const std::uint64_t size = steps_ / 1000 % 2 == 0 ? std::max(any, scale_.least) : any;
        const std::uint64_t alignment = std::uint64_t{1}
                                        << (numbers.one_in(2) ? 0 : numbers.below(scale_.alignment_bits + 1));
        if (size > capacity_) // refused at a glance, perhaps before what is due is looked for
            if (std::string fault = collect(); !fault.empty()) return fault;
        const offset_range range = ranges_.allocate(size, alignment);
        free_what_is_due();
        const std::uint64_t counted = std::max<std::uint64_t>(size, 1);
        const std::string words = std::to_string(size) + " aligned to " + std::to_string(alignment);
        if (!range) return fits_somewhere(counted, alignment) ? words + " was refused and fits" : "";
        if (range.offset % alignment != 0) return words + " is not aligned";
        if (range.offset > capacity_ || capacity_ - range.offset < counted) return words + " lies past the end";
        if (ranges_.size_of(range) != counted) return words + " has another size";
        const auto after = held_.lower_bound(range.offset);
        if (after != held_.end() && after->first - range.offset < counted) return words + " overlaps the next range";
        if (after != held_.begin()) {
            const auto before = std::prev(after);
            if (range.offset - before->first < before->second.size) return words + " lies in another range";
        }
        held_.emplace(range.offset, held{range, counted});
        return {};
    }

    /// A range that is held and does not wait; the end when there is none.
    std::map<std::uint64_t, held>::iterator any(std::uint64_t number) {
        if (held_.empty()) return held_.end();
        const auto begin = std::next(held_.begin(), static_cast<std::ptrdiff_t>(number % held_.size()));
        const auto found = std::find_if(begin, held_.end(), [](const auto& each) { return each.second.due == never; });
        return found;
    }

    std::string deallocate(const step& each) {
        const auto chosen = any(each.first);
        if (chosen == held_.end()) return {};
        if (ranges_.size_of(chosen->second.range) != chosen->second.size) return "a range has another size than before";
        ranges_.deallocate(chosen->second.range);
        held_.erase(chosen);
        return {};
    }

    std::string deallocate_after(const step& each) {
        if (std::string fault = collect(); !fault.empty()) return fault;
        const auto chosen = any(each.first);
        if (chosen == held_.end()) return {};
        const auto frames = static_cast<unsigned>(each.second % 4 == 0 ? each.second / 4 % 80 : each.second / 4 % 4);
        ranges_.deallocate_after(chosen->second.range, frames);
        if (frames == 0)
            held_.erase(chosen);
        else
            chosen->second.due = tenure::frame_clock::now() + std::min(frames, offset_allocator::max_latency);
        return {};
    }

    std::string end_frames(const step& each) {
        const std::uint64_t count = each.first % 16 == 0 ? each.second % 150 : 1;
        for (std::uint64_t frame = 0; frame < count; ++frame) tenure::next_frame();
        return {};
    }

    std::string clear() {
        ranges_.clear();
        held_.clear();
        return {};
    }

    std::string grow(const step& each) {
        const std::uint64_t more = each.first % (std::uint64_t{1} << each.second % scale_.size_bits);
        const bool is_right = each.second % 16 != 0 || more == 0;
        const std::uint64_t to =
            is_right ? std::min(capacity_ + more, max_capacity) : capacity_ - std::min(more, capacity_);
        const bool expected = to >= capacity_;
        if (ranges_.grow(to) != expected) return "growing answered otherwise";
        if (expected) capacity_ = to;
        return {};
    }

    std::string shrink(const step& each) {
        if (std::string fault = collect(); !fault.empty()) return fault;
        const std::uint64_t end = held_.empty() ? 0 : held_.rbegin()->first + held_.rbegin()->second.size;
        // Often to just the end of what is held, or past it.
        const std::uint64_t less = each.first % (std::uint64_t{1} << each.second % scale_.size_bits);
        const std::uint64_t to = each.second % 8 == 0 ? end : capacity_ - std::min(less, capacity_);
        if (ranges_.shrink(to) != (to >= end)) return "shrinking answered otherwise";
        if (to >= end) capacity_ = to;
        return {};
    }

    scale scale_;
    std::uint64_t capacity_;
    std::size_t steps_ = 0;
    offset_allocator ranges_;
    std::map<std::uint64_t, held> held_;
};

std::string replay(std::span<const step> steps, const scale& of) {
    offsets_against_model pair(of);
    std::size_t count = 0;
    for (const step& each : steps) {
        if (std::string fault = pair.run(each); !fault.empty()) return fault;
        if (++count % 8 != 0) continue;
        if (std::string fault = pair.check(); !fault.empty()) return fault;
    }
    if (std::string fault = pair.check(); !fault.empty()) return fault;
    return pair.finish();
}

void expect_agreement(int rounds, const scale& of) {
    for (int round = 0; round < rounds; ++round)
        support::expect_agreement("offsets", 3000, [&of](auto steps) { return replay(steps, of); });
}

TEST(offset_model, agrees_where_small_ranges_fill_a_little_memory) { expect_agreement(20, {700, 6, 5}); }

TEST(offset_model, agrees_where_alignments_are_larger_than_sizes) { expect_agreement(15, {1 << 23, 14, 20}); }

TEST(offset_model, agrees_where_small_requests_come_after_gaps_too_small_for_those_before) {
    expect_agreement(20, {40'000, 9, 8, 200});
}

TEST(offset_model, agrees_on_a_memory_of_gibibytes) { expect_agreement(15, {std::uint64_t{1} << 34, 32, 20}); }

TEST(offset_model, agrees_on_the_largest_memory_and_sizes_near_it) { expect_agreement(15, {max_capacity, 62, 20}); }

TEST(offset_model, agrees_from_nothing) { expect_agreement(10, {0, 12, 12}); }

}
