// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What is deallocated for a later frame.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>

#include "offset/walked.hpp"

namespace {

using tenure::offset_allocator;
using tenure::offset_range;

constexpr unsigned max_latency = offset_allocator::max_latency;

void end_frames(unsigned count) {
    for (unsigned each = 0; each < count; ++each) tenure::next_frame();
}

TEST(offset_frames, a_range_is_free_exactly_when_its_frames_have_ended) {
    for (unsigned latency = 1; latency <= max_latency; ++latency) {
        offset_allocator ranges(100);
        ranges.deallocate_after(ranges.allocate(100), latency);
        for (unsigned ended = 0; ended < latency; ++ended) {
            ASSERT_FALSE(ranges.allocate(1)) << ended << " of " << latency;
            ASSERT_EQ(ranges.collect(), 0u);
            ASSERT_TRUE(ranges.valid());
            tenure::next_frame();
        }
        ASSERT_TRUE(ranges.allocate(100)) << latency; // without a collect() of ours
        ASSERT_TRUE(ranges.valid());
    }
}

TEST(offset_frames, collect_frees_what_is_due_and_says_how_many) {
    offset_allocator ranges(100);
    EXPECT_EQ(ranges.collect(), 0u);
    for (const unsigned latency : {2u, 1u, 2u, 3u, 2u}) ranges.deallocate_after(ranges.allocate(10), latency);
    EXPECT_EQ(ranges.collect(), 0u);
    for (const std::size_t due : {1u, 3u, 1u, 0u}) {
        tenure::next_frame();
        EXPECT_EQ(ranges.collect(), due);
        EXPECT_EQ(ranges.collect(), 0u);
        EXPECT_TRUE(ranges.valid());
    }
    EXPECT_EQ(support::walked(ranges).size(), 1u);
}

TEST(offset_frames, zero_frames_are_now) {
    offset_allocator ranges(100);
    ranges.deallocate_after(ranges.allocate(100), 0);
    EXPECT_EQ(ranges.usage().free, 100u);
    EXPECT_EQ(ranges.usage().waiting, 0u);
}

TEST(offset_frames, what_waits_counts_as_allocated_until_it_is_due) {
    offset_allocator ranges(100);
    const offset_range first = ranges.allocate(30), second = ranges.allocate(50);
    ranges.deallocate_after(first, 1);
    ranges.deallocate_after(second, 2);
    tenure::offset_usage usage = ranges.usage();
    EXPECT_EQ(usage.waiting, 80u);
    EXPECT_EQ(usage.range_count, 2u);
    EXPECT_EQ(usage.free, 20u);
    EXPECT_FALSE(support::walked(ranges)[0].is_free);
    tenure::next_frame();
    EXPECT_EQ(ranges.collect(), 1u);
    usage = ranges.usage();
    EXPECT_EQ(usage.waiting, 50u);
    EXPECT_EQ(usage.range_count, 1u);
    EXPECT_EQ(usage.free, 50u);
    EXPECT_TRUE(support::walked(ranges)[0].is_free);
}

TEST(offset_frames, ranges_come_free_in_the_order_of_their_frames_and_not_of_the_calls) {
    offset_allocator ranges(30);
    const offset_range three = ranges.allocate(10), one = ranges.allocate(10), two = ranges.allocate(10);
    ranges.deallocate_after(three, 3);
    ranges.deallocate_after(one, 1);
    ranges.deallocate_after(two, 2);
    for (const offset_range next : {one, two, three}) {
        EXPECT_FALSE(ranges.allocate(10));
        tenure::next_frame();
        EXPECT_EQ(ranges.allocate(10).offset, next.offset);
        EXPECT_FALSE(ranges.allocate(10));
    }
}

TEST(offset_frames, a_latency_over_the_most_counts_as_the_most) {
    for (const unsigned latency : {max_latency + 1, 1000u, UINT32_MAX}) {
        offset_allocator ranges(10);
        ranges.deallocate_after(ranges.allocate(10), latency);
        end_frames(max_latency - 1);
        EXPECT_FALSE(ranges.allocate(10)) << latency;
        tenure::next_frame();
        EXPECT_TRUE(ranges.allocate(10)) << latency;
    }
}

TEST(offset_frames, many_frames_may_pass_at_once) {
    for (const unsigned passed : {max_latency - 1, max_latency, max_latency + 1, max_latency + 2, 1000u}) {
        offset_allocator ranges(max_latency);
        for (unsigned latency = 1; latency <= max_latency; ++latency)
            ranges.deallocate_after(ranges.allocate(1), latency);
        end_frames(passed);
        EXPECT_EQ(ranges.collect(), passed < max_latency ? passed : max_latency);
        EXPECT_TRUE(ranges.valid());
    }
}

TEST(offset_frames, frames_count_from_the_call_however_long_nothing_waited) {
    offset_allocator ranges(10);
    for (const unsigned idle : {1u, 5u, max_latency, max_latency + 1, 1000u}) {
        const offset_range range = ranges.allocate(10);
        end_frames(idle);
        ranges.deallocate_after(range, 2);
        EXPECT_FALSE(ranges.allocate(10)) << idle;
        tenure::next_frame();
        EXPECT_FALSE(ranges.allocate(10)) << idle;
        tenure::next_frame();
        const offset_range again = ranges.allocate(10);
        ASSERT_TRUE(again) << idle;
        ranges.deallocate(again);
    }
}

TEST(offset_frames, ranges_of_several_frames_may_be_due_at_the_same) {
    offset_allocator ranges(30);
    for (const unsigned latency : {3u, 2u, 1u}) {
        ranges.deallocate_after(ranges.allocate(10), latency);
        if (latency != 1) tenure::next_frame();
    }
    EXPECT_EQ(ranges.collect(), 0u);
    tenure::next_frame();
    EXPECT_EQ(ranges.collect(), 3u);
}

TEST(offset_frames, a_ring_of_frames_is_free_one_frame_at_a_time_for_ever) {
    // The lists are used round and round: with the longest latency each comes free just before it is filled again.
    offset_allocator ranges(max_latency);
    for (unsigned frame = 0; frame < max_latency; ++frame) {
        ranges.deallocate_after(ranges.allocate(1), max_latency);
        tenure::next_frame();
    }
    for (unsigned frame = 0; frame < 5 * max_latency; ++frame) {
        const offset_range only = ranges.allocate(1);
        ASSERT_TRUE(only) << frame;
        EXPECT_EQ(only.offset, frame % max_latency);
        ASSERT_FALSE(ranges.allocate(1)) << frame;
        ranges.deallocate_after(only, max_latency);
        ASSERT_TRUE(ranges.valid());
        tenure::next_frame();
    }
}

TEST(offset_frames, a_range_that_comes_free_joins_its_neighbours) {
    offset_allocator ranges(30);
    const offset_range left = ranges.allocate(10), middle = ranges.allocate(10), right = ranges.allocate(10);
    ranges.deallocate(left);
    ranges.deallocate_after(middle, 1);
    ranges.deallocate(right); // what waits is no free neighbour
    EXPECT_EQ(ranges.usage().free_count, 2u);
    EXPECT_TRUE(ranges.valid());
    tenure::next_frame();
    EXPECT_EQ(ranges.allocate(30).offset, 0u);
}

TEST(offset_frames, a_refused_request_still_frees_what_is_due) {
    offset_allocator ranges(30);
    const offset_range first = ranges.allocate(10);
    ASSERT_TRUE(ranges.allocate(10));
    ranges.deallocate_after(first, 1);
    tenure::next_frame();
    EXPECT_FALSE(ranges.allocate(11));
    EXPECT_EQ(ranges.usage().free, 20u);
}

TEST(offset_frames, clear_forgets_what_waits) {
    offset_allocator ranges(10);
    ranges.deallocate_after(ranges.allocate(10), 2);
    ranges.clear();
    const offset_range range = ranges.allocate(10);
    ASSERT_TRUE(range);
    end_frames(3);
    EXPECT_EQ(ranges.collect(), 0u);
    EXPECT_FALSE(ranges.allocate(1));
    EXPECT_EQ(ranges.size_of(range), 10u);
}

TEST(offset_frames, allocators_wait_each_for_itself) {
    offset_allocator one(10), other(10);
    one.deallocate_after(one.allocate(10), 1);
    other.deallocate_after(other.allocate(10), 2);
    tenure::next_frame();
    EXPECT_EQ(one.collect(), 1u);
    EXPECT_EQ(other.collect(), 0u);
    tenure::next_frame();
    EXPECT_EQ(other.collect(), 1u);
}

}
