// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Const queries while deallocated ranges are pending: they answer as if the ranges were merged, and write nothing.

#include <tenure/offset/offset_allocator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/static_buffer_source.hpp>

#include "offset/walked.hpp"
#include "support/reports.hpp"

namespace {

using support::walked;
using support::walked_range;
using tenure::offset_allocator;
using tenure::offset_range;
using tenure::offset_usage;

constexpr std::size_t range_count = 6;
constexpr std::uint64_t range_size = 100;
constexpr std::uint64_t alignment = 128;                        // leaves a gap of 28 behind each range
constexpr std::uint64_t capacity = range_count * alignment + 5; // the rest at the end is another gap

/// Six ranges with gaps between them, or adjacent.
struct six_ranges {
    explicit six_ranges(bool has_gaps) : ranges(has_gaps ? capacity : range_count * range_size) {
        for (offset_range& each : held) each = ranges.allocate(range_size, has_gaps ? alignment : 1);
    }
    offset_allocator ranges;
    std::array<offset_range, range_count> held;
};

void expect_same(const offset_usage& seen, const offset_usage& expected) {
    EXPECT_EQ(seen.capacity, expected.capacity);
    EXPECT_EQ(seen.free, expected.free);
    EXPECT_EQ(seen.largest_free, expected.largest_free);
    EXPECT_EQ(seen.waiting, expected.waiting);
    EXPECT_EQ(seen.range_count, expected.range_count);
    EXPECT_EQ(seen.free_count, expected.free_count);
    EXPECT_EQ(seen.record_bytes, expected.record_bytes);
}

TEST(offset_queries, pending_ranges_count_as_free_and_merged_in_every_order) {
    // Every sequence of three of the six ranges: the first is merged, the other two are pending.
    for (std::size_t number = 0; number < 2 * range_count * range_count * range_count; ++number) {
        const std::size_t first = number / 2 % range_count, second = number / 12 % range_count, third = number / 72;
        if (first == second || second == third || first == third) continue;
        SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(second) + ", " + std::to_string(third) +
                     (number % 2 == 0 ? " with gaps" : " adjacent"));
        six_ranges asked(number % 2 == 0), settled(number % 2 == 0);
        for (const std::size_t which : {first, second, third}) {
            asked.ranges.deallocate(asked.held[which]);
            settled.ranges.deallocate(settled.held[which]);
            settled.ranges.collect();
            const std::uint64_t largest = settled.ranges.usage().largest_free;
            expect_same(asked.ranges.usage(), settled.ranges.usage());
            EXPECT_EQ(walked(asked.ranges), walked(settled.ranges));
            EXPECT_EQ(support::json_of(asked.ranges), support::json_of(settled.ranges));
            EXPECT_TRUE(asked.ranges.valid());
            ASSERT_FALSE(settled.ranges.allocate(largest + 1));
        }
        const std::uint64_t largest = asked.ranges.usage().largest_free;
        EXPECT_FALSE(asked.ranges.allocate(largest + 1));
        EXPECT_TRUE(asked.ranges.allocate(largest));
    }
}

TEST(offset_queries, two_pending_neighbours_are_one_free_range) {
    six_ranges with(false);
    with.ranges.deallocate(with.held[2]);
    with.ranges.deallocate(with.held[3]);
    const offset_usage usage = with.ranges.usage();
    EXPECT_EQ(usage.free, 2 * range_size);
    EXPECT_EQ(usage.largest_free, 2 * range_size);
    EXPECT_EQ(usage.free_count, 1u);
    EXPECT_EQ(usage.range_count, range_count - 2);
    const std::vector<walked_range> all = walked(with.ranges);
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[2], (walked_range{2 * range_size, 2 * range_size, true}));
}

TEST(offset_queries, a_waiting_range_is_not_free_next_to_a_pending_one) {
    six_ranges with(false);
    with.ranges.deallocate_after(with.held[1], 5);
    with.ranges.deallocate(with.held[0]);
    with.ranges.deallocate(with.held[2]);
    const offset_usage usage = with.ranges.usage();
    EXPECT_EQ(usage.waiting, range_size);
    EXPECT_EQ(usage.free, 2 * range_size);
    EXPECT_EQ(usage.largest_free, range_size);
    EXPECT_EQ(usage.free_count, 2u);
    EXPECT_EQ(usage.range_count, range_count - 2);
    EXPECT_EQ(with.ranges.size_of(with.held[1]), range_size);
}

TEST(offset_queries, write_nothing) {
    alignas(64) static std::array<unsigned char, std::size_t{64} * 1024> memory;
    tenure::static_buffer_source source(memory.data(), memory.size());
    offset_allocator ranges(capacity, source);
    std::vector<offset_range> held;
    for (std::size_t each = 0; each < range_count; ++each) held.push_back(ranges.allocate(range_size, alignment));
    ranges.deallocate(held[0]);
    ranges.deallocate_after(held[5], 3);
    ranges.deallocate(held[2]);
    ranges.deallocate(held[3]); // this and the one before are pending
    std::array<unsigned char, sizeof ranges> own{};
    std::memcpy(own.data(), static_cast<const void*>(&ranges), own.size());
    const auto records = memory;
    const offset_allocator& asked = ranges;
    EXPECT_EQ(asked.usage().free_count, 4u); // in front of and behind each of the three ranges that are not free
    EXPECT_EQ(walked(asked).size(), 7u);
    EXPECT_FALSE(support::json_of(asked).empty());
    EXPECT_TRUE(asked.valid());
    EXPECT_EQ(asked.size_of(held[1]), range_size);
    EXPECT_EQ(asked.capacity(), capacity);
    EXPECT_EQ(std::memcmp(own.data(), static_cast<const void*>(&ranges), own.size()), 0);
    EXPECT_TRUE(records == memory);
    ranges.collect();
    EXPECT_NE(std::memcmp(own.data(), static_cast<const void*>(&ranges), own.size()), 0) << "nothing was pending";
}

TEST(offset_queries, collect_completes_deallocations_and_counts_only_those_that_waited) {
    six_ranges with(false);
    with.ranges.deallocate(with.held[2]);
    with.ranges.deallocate(with.held[3]);
    EXPECT_EQ(with.ranges.collect(), 0u);
    const support::heard_reports heard;
    EXPECT_EQ(with.ranges.size_of(with.held[2]), 0u);
    EXPECT_EQ(heard.count(), 1u);
    EXPECT_EQ(with.ranges.usage().free_count, 1u);
    EXPECT_TRUE(with.ranges.valid());
}

}
