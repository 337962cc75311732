// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// grow() and shrink().

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>

#include "offset/walked.hpp"

namespace {

using support::max_capacity;
using support::walked;
using support::walked_range;
using tenure::offset_allocator;
using tenure::offset_range;

TEST(offset_resize, growing_behind_a_free_range_makes_that_one_larger) {
    offset_allocator ranges(100);
    const offset_range kept = ranges.allocate(60);
    ASSERT_TRUE(ranges.grow(1000));
    EXPECT_EQ(ranges.capacity(), 1000u);
    EXPECT_EQ(walked(ranges), (std::vector<walked_range>{{0, 60, false}, {60, 940, true}}));
    EXPECT_EQ(ranges.usage().largest_free, 940u);
    EXPECT_EQ(ranges.size_of(kept), 60u);
    EXPECT_TRUE(ranges.valid());
    EXPECT_EQ(ranges.allocate(940).offset, 60u);
}

TEST(offset_resize, growing_behind_an_allocated_range_adds_a_free_one) {
    offset_allocator ranges(100);
    const offset_range kept = ranges.allocate(100);
    EXPECT_FALSE(ranges.allocate(1));
    ASSERT_TRUE(ranges.grow(101));
    EXPECT_EQ(ranges.usage().free, 1u);
    const offset_range added = ranges.allocate(1);
    EXPECT_EQ(added.offset, 100u);
    EXPECT_FALSE(ranges.allocate(1));
    EXPECT_TRUE(ranges.valid());
    ranges.deallocate(kept);
    ranges.deallocate(added);
    EXPECT_EQ(ranges.allocate(101).offset, 0u);
}

TEST(offset_resize, growing_before_the_first_range_takes_nothing) {
    offset_allocator ranges(0);
    ASSERT_TRUE(ranges.grow(50));
    EXPECT_EQ(ranges.usage().record_bytes, 0u);
    EXPECT_EQ(ranges.usage().free, 50u);
    EXPECT_EQ(ranges.allocate(50).offset, 0u);
}

TEST(offset_resize, growing_to_less_or_beyond_the_most_is_refused_and_changes_nothing) {
    offset_allocator ranges(100);
    static_cast<void>(ranges.allocate(10));
    const support::everything_seen before(ranges);
    for (const std::uint64_t capacity : {std::uint64_t{99}, std::uint64_t{0}, max_capacity + 1, UINT64_MAX})
        EXPECT_FALSE(ranges.grow(capacity));
    EXPECT_TRUE(ranges.grow(100)); // to what it is
    EXPECT_EQ(support::everything_seen(ranges), before);
    EXPECT_TRUE(ranges.grow(max_capacity));
    EXPECT_EQ(ranges.allocate(max_capacity - 10).offset, 10u);
}

TEST(offset_resize, shrinking_takes_from_the_free_end_alone) {
    offset_allocator ranges(100);
    const offset_range kept = ranges.allocate(60);
    const support::everything_seen before(ranges);
    EXPECT_FALSE(ranges.shrink(59));
    EXPECT_FALSE(ranges.shrink(0));
    EXPECT_FALSE(ranges.shrink(101)); // more
    EXPECT_TRUE(ranges.shrink(100));  // to what it is
    EXPECT_EQ(support::everything_seen(ranges), before);
    ASSERT_TRUE(ranges.shrink(70));
    EXPECT_EQ(walked(ranges), (std::vector<walked_range>{{0, 60, false}, {60, 10, true}}));
    EXPECT_EQ(ranges.usage().largest_free, 10u);
    EXPECT_FALSE(ranges.allocate(11));
    ASSERT_TRUE(ranges.shrink(60));
    EXPECT_EQ(walked(ranges), (std::vector<walked_range>{{0, 60, false}}));
    EXPECT_FALSE(ranges.allocate(1));
    EXPECT_TRUE(ranges.valid());
    EXPECT_FALSE(ranges.shrink(59));
    EXPECT_EQ(ranges.size_of(kept), 60u);
}

TEST(offset_resize, a_free_range_before_an_allocated_one_cannot_be_shrunk_away) {
    offset_allocator ranges(100);
    const offset_range first = ranges.allocate(90), last = ranges.allocate(10);
    ranges.deallocate(first);
    EXPECT_FALSE(ranges.shrink(99));
    EXPECT_FALSE(ranges.shrink(90));
    ranges.deallocate(last);
    EXPECT_TRUE(ranges.shrink(5));
    EXPECT_EQ(ranges.usage().free, 5u);
}

TEST(offset_resize, to_nothing_and_back) {
    offset_allocator ranges(100);
    for (int round = 0; round < 3; ++round) {
        const offset_range range = ranges.allocate(100);
        ASSERT_EQ(range.offset, 0u);
        ASSERT_EQ(ranges.size_of(range), 100u);
        EXPECT_FALSE(ranges.shrink(0));
        ranges.deallocate(range);
        ASSERT_TRUE(ranges.shrink(0));
        EXPECT_EQ(ranges.capacity(), 0u);
        EXPECT_TRUE(walked(ranges).empty());
        EXPECT_EQ(ranges.usage().free_count, 0u);
        EXPECT_EQ(ranges.usage().largest_free, 0u);
        EXPECT_TRUE(ranges.valid());
        EXPECT_FALSE(ranges.allocate(1));
        ASSERT_TRUE(ranges.grow(100));
        EXPECT_EQ(ranges.usage().free, 100u);
        EXPECT_TRUE(ranges.valid());
    }
}

TEST(offset_resize, an_end_that_waits_stays_until_it_is_free) {
    offset_allocator ranges(100);
    ASSERT_TRUE(ranges.allocate(50));
    ranges.deallocate_after(ranges.allocate(50), 1);
    EXPECT_FALSE(ranges.shrink(50));
    ASSERT_TRUE(ranges.grow(200)); // behind what waits: a free range of its own
    EXPECT_EQ(ranges.usage().free, 100u);
    EXPECT_EQ(ranges.usage().waiting, 50u);
    EXPECT_TRUE(ranges.valid());
    tenure::next_frame();
    EXPECT_EQ(ranges.collect(), 1u);
    EXPECT_EQ(walked(ranges), (std::vector<walked_range>{{0, 50, false}, {50, 150, true}}));
    EXPECT_TRUE(ranges.shrink(50));
    EXPECT_TRUE(ranges.valid());
}

TEST(offset_resize, a_cleared_allocator_grows_and_shrinks) {
    offset_allocator ranges(100);
    static_cast<void>(ranges.allocate(100));
    ranges.clear();
    ASSERT_TRUE(ranges.shrink(40));
    EXPECT_FALSE(ranges.allocate(41));
    ASSERT_TRUE(ranges.grow(60));
    EXPECT_EQ(ranges.allocate(60).offset, 0u);
    EXPECT_TRUE(ranges.valid());
}

}
