// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/offset/offset_allocator.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>

#include "offset/walked.hpp"
#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using support::max_capacity;
using support::walked;
using support::walked_range;
using tenure::offset_allocator;
using tenure::offset_range;

class offsets : public testing::Test {
protected:
    ~offsets() override { EXPECT_EQ(source_.live_blocks(), 0u); }

    static void expect_one_free_range(const offset_allocator& of) {
        EXPECT_EQ(walked(of), (std::vector<walked_range>{{0, of.capacity(), true}}));
        EXPECT_EQ(of.usage().largest_free, of.capacity());
        EXPECT_TRUE(of.valid());
    }

    /// Ranges side by side, of these sizes, with nothing left behind them.
    static std::vector<offset_range> filled(offset_allocator& with, const std::vector<std::uint64_t>& sizes) {
        std::vector<offset_range> all;
        for (const std::uint64_t size : sizes) all.push_back(with.allocate(size));
        EXPECT_EQ(with.usage().free, 0u);
        return all;
    }

    tenure::counting_source source_{tenure::page_source::process()};
};

TEST_F(offsets, nothing_is_taken_before_the_first_range) {
    const offset_allocator fresh(1000, source_);
    EXPECT_EQ(source_.requests(), 0u);
    EXPECT_EQ(fresh.capacity(), 1000u);
    EXPECT_EQ(fresh.usage().record_bytes, 0u);
    EXPECT_TRUE(fresh.valid());
}

TEST_F(offsets, the_source_is_the_process_s_pages_unless_another_is_named) {
    offset_allocator ranges(100);
    const offset_range range = ranges.allocate(100);
    EXPECT_TRUE(range);
    EXPECT_EQ(range.offset, 0u);
}

TEST_F(offsets, sizes_are_not_rounded_so_that_a_capacity_is_used_to_the_last_unit) {
    offset_allocator ranges(500 * 501 / 2, source_);
    std::uint64_t end = 0;
    for (std::uint64_t size = 1; size <= 500; ++size) {
        const offset_range range = ranges.allocate(size);
        ASSERT_TRUE(range) << size;
        EXPECT_EQ(range.offset, end);
        EXPECT_EQ(ranges.size_of(range), size);
        end += size;
    }
    EXPECT_EQ(ranges.usage().free, 0u);
    EXPECT_FALSE(ranges.allocate(1));
    EXPECT_TRUE(ranges.valid());
}

TEST_F(offsets, any_size_fits_a_capacity_of_that_size) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = 1; size <= 5000; ++size) sizes.push_back(size);
    for (unsigned shift = 12; shift <= 61; ++shift) {
        const std::uint64_t whole = std::uint64_t{1} << shift;
        for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
            const std::uint64_t edge = whole + eighth * (whole / 8);
            sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
        }
    }
    sizes.insert(sizes.end(), {max_capacity - 1, max_capacity});
    for (const std::uint64_t size : sizes) {
        offset_allocator ranges(size, source_);
        EXPECT_FALSE(ranges.allocate(size + 1)) << size;
        const offset_range all = ranges.allocate(size);
        ASSERT_TRUE(all) << size;
        EXPECT_FALSE(ranges.allocate(1)) << size;
        ranges.deallocate(all);
        ASSERT_TRUE(ranges.valid()) << size;
        ASSERT_TRUE(ranges.allocate(size)) << size;
    }
}

TEST_F(offsets, after_all_is_freed_in_any_order_there_is_one_range_of_the_whole_capacity) {
    constexpr std::size_t count = 1000;
    const std::uint64_t seed = support::new_seed();
    support::random numbers(seed);
    for (int order = 0; order < 6; ++order) {
        offset_allocator ranges(max_capacity, source_);
        std::vector<offset_range> held;
        for (std::size_t each = 0; each < count; ++each)
            held.push_back(ranges.allocate(1 + numbers.below(std::size_t{1} << numbers.below(50)),
                                           std::uint64_t{1} << numbers.below(13)));
        if (order == 1) std::reverse(held.begin(), held.end());
        if (order == 2) // each second one first, so that the others join on both sides
            std::stable_partition(held.begin(), held.end(), [](offset_range range) { return range.id % 2 == 0; });
        if (order > 2)
            for (std::size_t each = count; each > 1; --each) std::swap(held[each - 1], held[numbers.below(each)]);
        for (const offset_range range : held) {
            ASSERT_TRUE(range);
            ranges.deallocate(range);
            ASSERT_TRUE(ranges.valid()) << "TENURE_TEST_SEED=" << seed;
        }
        expect_one_free_range(ranges);
        EXPECT_EQ(ranges.usage().range_count, 0u);
    }
}

TEST_F(offsets, a_freed_range_joins_its_free_neighbours_and_no_others) {
    offset_allocator ranges(60, source_);
    const auto all = filled(ranges, {10, 10, 10, 10, 10, 10});
    ranges.deallocate(all[1]); // none to join
    EXPECT_EQ(walked(ranges)[1], (walked_range{10, 10, true}));
    ranges.deallocate(all[2]); // the left one
    EXPECT_EQ(walked(ranges)[1], (walked_range{10, 20, true}));
    ranges.deallocate(all[5]); // the last, none to join
    ranges.deallocate(all[4]); // the right one
    EXPECT_EQ(walked(ranges),
              (std::vector<walked_range>{{0, 10, false}, {10, 20, true}, {30, 10, false}, {40, 20, true}}));
    ranges.deallocate(all[3]); // both
    EXPECT_EQ(walked(ranges), (std::vector<walked_range>{{0, 10, false}, {10, 50, true}}));
    ranges.deallocate(all[0]);
    expect_one_free_range(ranges);
}

TEST_F(offsets, a_hole_of_any_size_takes_a_range_of_just_that_size) {
    // Bins are an eighth of a doubling: a hole is seldom the least of its bin, and a search that rounds up misses it.
    for (std::uint64_t size = 1; size <= 3000; ++size) {
        offset_allocator ranges(size + 2, source_);
        const auto all = filled(ranges, {1, size, 1});
        ranges.deallocate(all[1]);
        EXPECT_FALSE(ranges.allocate(size + 1));
        const offset_range again = ranges.allocate(size);
        ASSERT_TRUE(again) << size;
        ASSERT_EQ(again.offset, 1u);
    }
}

TEST_F(offsets, holes_of_just_the_size_are_used_again_before_what_is_free_behind_them) {
    offset_allocator ranges(1'000'000, source_);
    std::vector<offset_range> all;
    for (int i = 0; i < 200; ++i) all.push_back(ranges.allocate(1000)); // no bin's least size
    const std::uint64_t end = all.back().offset + 1000;
    for (std::size_t i = 0; i < all.size(); i += 2) ranges.deallocate(all[i]);
    EXPECT_EQ(ranges.usage().free_count, 101u);
    ranges.collect(); // the last two are merged, too
    for (std::size_t i = 0; i < all.size(); i += 2) EXPECT_LT(ranges.allocate(1000).offset, end);
    EXPECT_EQ(ranges.usage().free_count, 1u);
}

TEST_F(offsets, the_one_hole_that_fits_is_found_among_many_of_its_bin_that_do_not) {
    constexpr std::uint64_t size = 1023; // the bin's ranges are of 960 to 1023
    constexpr std::size_t holes = 200;
    for (const std::size_t fitting : {std::size_t{0}, holes / 2, holes - 1}) {
        std::vector<std::uint64_t> sizes;
        for (std::size_t each = 0; each < holes; ++each)
            sizes.insert(sizes.end(), {each == fitting ? size : size - 1 - each % 60, 1});
        std::uint64_t capacity = 0;
        for (const std::uint64_t each : sizes) capacity += each;
        offset_allocator ranges(capacity, source_);
        const auto all = filled(ranges, sizes);
        for (std::size_t each = 0; each < all.size(); each += 2) ranges.deallocate(all[each]);
        EXPECT_EQ(ranges.usage().largest_free, size);
        const offset_range found = ranges.allocate(size);
        ASSERT_TRUE(found);
        EXPECT_EQ(found.offset, all[fitting * 2].offset);
        EXPECT_FALSE(ranges.allocate(size));
    }
}

TEST_F(offsets, an_aligned_hole_is_found_though_no_hole_has_room_for_every_gap) {
    offset_allocator ranges(4096, source_);
    const auto all = filled(ranges, {100, 400, 268, 256, 1, 500, 2571});
    ranges.deallocate(all[1]); // 100 to 500: 256 to 500 is too little
    ranges.deallocate(all[3]); // 768 to 1024: just right
    ranges.deallocate(all[5]); // 1025 to 1525: 1280 to 1525 is too little
    EXPECT_FALSE(ranges.allocate(257, 256));
    EXPECT_FALSE(ranges.allocate(256, 512));
    const offset_range found = ranges.allocate(256, 256);
    ASSERT_TRUE(found);
    EXPECT_EQ(found.offset, 768u);
    EXPECT_FALSE(ranges.allocate(256, 256));
    EXPECT_TRUE(ranges.valid());
}

TEST_F(offsets, the_gap_before_an_aligned_range_is_free) {
    offset_allocator ranges(1024, source_);
    ASSERT_EQ(ranges.allocate(1).offset, 0u);
    const offset_range aligned = ranges.allocate(100, 256);
    EXPECT_EQ(aligned.offset, 256u);
    EXPECT_EQ(ranges.size_of(aligned), 100u);
    EXPECT_EQ(walked(ranges),
              (std::vector<walked_range>{{0, 1, false}, {1, 255, true}, {256, 100, false}, {356, 668, true}}));
    EXPECT_EQ(ranges.allocate(668).offset, 356u);
    EXPECT_EQ(ranges.allocate(255).offset, 1u);
    EXPECT_EQ(ranges.usage().free, 0u);
    EXPECT_TRUE(ranges.valid());
}

TEST_F(offsets, a_small_range_does_not_break_a_large_hole_where_a_small_hole_is) {
    offset_allocator ranges(15'303, source_);
    const auto all = filled(ranges, {10'000, 1, 300, 1, 5000, 1});
    for (const std::size_t each : {0u, 4u, 2u}) ranges.deallocate(all[each]);
    ranges.collect();
    EXPECT_EQ(ranges.usage().free_count, 3u);
    EXPECT_EQ(ranges.allocate(200).offset, all[2].offset);
    EXPECT_EQ(ranges.allocate(4000).offset, all[4].offset);
    EXPECT_EQ(ranges.usage().largest_free, 10'000u);
}

TEST_F(offsets, a_hole_of_a_bins_least_size_is_taken_before_a_larger_one) {
    for (const std::uint64_t least : {1u, 7u, 8u, 9u, 15u, 16u, 18u, 960u, 1024u, 1152u}) {
        offset_allocator ranges(least + 2 + 5000, source_);
        const auto all = filled(ranges, {5000, 1, least, 1});
        ranges.deallocate(all[0]);
        ranges.deallocate(all[2]);
        EXPECT_EQ(ranges.allocate(least).offset, all[2].offset) << least;
    }
}

TEST_F(offsets, every_alignment_is_served_and_what_is_none_is_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    offset_allocator ranges(max_capacity, source_);
    ASSERT_TRUE(ranges.allocate(1));
    for (unsigned shift = 0; shift < 62; ++shift) {
        const std::uint64_t alignment = std::uint64_t{1} << shift;
        const offset_range range = ranges.allocate(1, alignment);
        ASSERT_TRUE(range) << shift;
        EXPECT_EQ(range.offset % alignment, 0u);
        EXPECT_GT(range.offset, 0u);
        ranges.deallocate(range);
        ASSERT_TRUE(ranges.valid());
    }
    const support::everything_seen before(ranges);
    for (const std::uint64_t alignment : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{6}, UINT64_MAX,
                                          std::uint64_t{1} << 62, std::uint64_t{1} << 63}) // the last two: only at 0
        EXPECT_FALSE(ranges.allocate(1, alignment)) << alignment;
    EXPECT_EQ(support::everything_seen(ranges), before);
    offset_allocator other(max_capacity, source_);
    EXPECT_TRUE(other.allocate(max_capacity, std::uint64_t{1} << 63));
}

TEST_F(offsets, offsets_and_sizes_have_64_bits) {
    offset_allocator ranges(max_capacity, source_);
    const std::uint64_t half = max_capacity / 2, much = (std::uint64_t{1} << 41) + 3;
    const offset_range low = ranges.allocate(half);
    const offset_range middle = ranges.allocate(much);
    const offset_range high = ranges.allocate(half - much - 1);
    const offset_range last = ranges.allocate(1);
    EXPECT_EQ(low.offset, 0u);
    EXPECT_EQ(middle.offset, half);
    EXPECT_EQ(high.offset, half + much);
    EXPECT_EQ(last.offset, max_capacity - 1);
    EXPECT_EQ(ranges.size_of(middle), much);
    EXPECT_FALSE(ranges.allocate(1));
    ranges.deallocate(middle);
    EXPECT_EQ(ranges.usage().free, much);
    EXPECT_EQ(ranges.allocate(5, std::uint64_t{1} << 40).offset, half);
    for (const offset_range range : {low, high, last}) ranges.deallocate(range);
    EXPECT_TRUE(ranges.valid());
}

TEST_F(offsets, a_size_of_zero_counts_as_one) {
    offset_allocator ranges(2, source_);
    const offset_range first = ranges.allocate(0), second = ranges.allocate(0);
    EXPECT_EQ(first.offset, 0u);
    EXPECT_EQ(second.offset, 1u);
    EXPECT_EQ(ranges.size_of(second), 1u);
    EXPECT_FALSE(ranges.allocate(0));
}

TEST_F(offsets, a_capacity_of_zero_or_beyond_the_most_refuses_every_range) {
    const support::heard_reports heard; // checked builds report what is refused
    for (const std::uint64_t capacity : {std::uint64_t{0}, max_capacity + 1, UINT64_MAX}) {
        offset_allocator ranges(capacity, source_);
        EXPECT_EQ(ranges.capacity(), 0u);
        EXPECT_FALSE(ranges.allocate(0));
        EXPECT_FALSE(ranges.allocate(1, 16));
        EXPECT_EQ(ranges.usage().free, 0u);
        EXPECT_EQ(ranges.usage().free_count, 0u);
        EXPECT_TRUE(walked(ranges).empty());
        EXPECT_TRUE(ranges.valid());
    }
    EXPECT_EQ(source_.requests(), 0u);
}

TEST_F(offsets, impossible_requests_are_refused_and_change_nothing) {
    const support::heard_reports heard; // checked builds report what is refused
    offset_allocator ranges(1000, source_);
    EXPECT_FALSE(ranges.allocate(1001));
    EXPECT_FALSE(ranges.allocate(10, 3));
    EXPECT_EQ(source_.requests(), 0u);
    static_cast<void>(ranges.allocate(10));
    const support::everything_seen before(ranges);
    for (const std::uint64_t size :
         {UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63, max_capacity, std::uint64_t{991}})
        for (const std::uint64_t alignment : {std::uint64_t{1}, std::uint64_t{16}, std::uint64_t{1} << 63})
            EXPECT_FALSE(ranges.allocate(size, alignment)) << size;
    EXPECT_EQ(support::everything_seen(ranges), before);
    EXPECT_TRUE(ranges.allocate(990));
}

TEST_F(offsets, clear_frees_everything_and_keeps_the_records_memory) {
    offset_allocator ranges(1 << 20, source_);
    ranges.clear(); // of nothing
    for (int round = 0; round < 3; ++round) {
        for (int each = 0; each < 5000; ++each) ASSERT_TRUE(ranges.allocate(100, 64));
        ranges.deallocate_after(ranges.allocate(7), 1);
        const std::size_t record_bytes = ranges.usage().record_bytes;
        ranges.clear();
        const tenure::offset_usage after = ranges.usage();
        EXPECT_EQ(after.free, ranges.capacity());
        EXPECT_EQ(after.largest_free, ranges.capacity());
        EXPECT_EQ(after.waiting + after.range_count, 0u);
        EXPECT_EQ(after.free_count, 1u);
        EXPECT_EQ(after.record_bytes, record_bytes);
        EXPECT_TRUE(ranges.valid());
        EXPECT_EQ(ranges.collect(), 0u);
    }
    const offset_range all = ranges.allocate(1 << 20);
    EXPECT_TRUE(all);
    ranges.deallocate(all);
    expect_one_free_range(ranges);
}

TEST_F(offsets, an_offset_range_is_a_value_whose_copies_are_as_good) {
    static_assert(std::is_trivially_copyable_v<offset_range> && sizeof(offset_range) == 16);
    static_assert(!std::is_copy_constructible_v<offset_allocator> && !std::is_copy_assignable_v<offset_allocator>);
    offset_allocator ranges(100, source_);
    const offset_range first = ranges.allocate(10), second = ranges.allocate(10);
    offset_range copy = first;
    EXPECT_EQ(copy, first);
    EXPECT_NE(copy, second);
    EXPECT_FALSE(offset_range{});
    EXPECT_EQ(offset_range{}, ranges.allocate(1000));
    EXPECT_EQ(ranges.size_of(copy), 10u);
    ranges.deallocate(copy);
    EXPECT_EQ(ranges.usage().range_count, 1u);
    copy = second;
    ranges.deallocate(copy);
    expect_one_free_range(ranges);
}

TEST_F(offsets, record_memory_grows_with_use_and_is_used_again) {
    offset_allocator ranges(max_capacity, source_);
    const offset_range first = ranges.allocate(1);
    const std::size_t at_first = source_.live_bytes();
    EXPECT_LE(at_first, 64u * 1024); // for one range; others take all that they may ever need
    EXPECT_EQ(ranges.usage().record_bytes, at_first);
    for (int each = 0; each < 100'000; ++each) {
        const offset_range next = ranges.allocate(64, 256);
        ranges.deallocate(next);
    }
    EXPECT_EQ(source_.live_bytes(), at_first);
    EXPECT_EQ(source_.requests(), 1u);
    EXPECT_EQ(ranges.usage().free_count, 1u);
    ranges.collect();
    std::vector<offset_range> held{first};
    for (int each = 0; each < 100'000; ++each) held.push_back(ranges.allocate(64, 64));
    EXPECT_EQ(ranges.usage().record_bytes, source_.live_bytes());
    EXPECT_GE(source_.live_bytes(), held.size() * 32);
    EXPECT_LE(source_.live_bytes(), held.size() * 32 * 2 + at_first);
    EXPECT_LT(source_.requests(), 32u);
    EXPECT_TRUE(ranges.valid());
    for (std::size_t each = 1; each < held.size(); ++each) ASSERT_EQ(held[each].offset, each * 64);
    for (const offset_range range : held) ranges.deallocate(range);
    expect_one_free_range(ranges);
}

}
