// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Const queries from several threads at once. Under ThreadSanitizer a query that writes is reported as a race.

#include <tenure/offset/offset_allocator.hpp>

#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "offset/walked.hpp"

namespace {

using support::walked;
using support::walked_range;
using tenure::offset_allocator;
using tenure::offset_range;
using tenure::offset_usage;

constexpr std::uint64_t range_size = 10, capacity = 200;

/// What one thread sees through every const function.
struct all_answers {
    offset_usage usage;
    std::vector<walked_range> ranges;
    std::string json;
    std::uint64_t capacity = 0, held_size = 0, waiting_size = 0;
    bool is_valid = false;
};

TEST(offset_queries, threads_that_only_query_see_the_same_and_do_not_race) {
    constexpr int rounds = 20;
    constexpr std::size_t thread_count = 2;
    for (int round = 0; round < rounds; ++round) {
        // Every round begins with two pending ranges, which a query must neither merge nor miss.
        offset_allocator ranges(capacity);
        std::vector<offset_range> held;
        for (int each = 0; each < 8; ++each) held.push_back(ranges.allocate(range_size));
        ranges.deallocate_after(held[7], 9);
        for (const std::size_t gone : {1u, 4u, 3u}) ranges.deallocate(held[gone]);
        const offset_allocator& asked = ranges;
        std::vector<all_answers> answers(thread_count);
        std::latch start(thread_count);
        std::vector<std::thread> threads;
        for (all_answers& seen : answers) {
            threads.emplace_back([&] {
                start.arrive_and_wait();
                seen.usage = asked.usage();
                seen.ranges = walked(asked);
                seen.json = support::json_of(asked);
                seen.capacity = asked.capacity();
                seen.held_size = asked.size_of(held[0]);
                seen.waiting_size = asked.size_of(held[7]);
                seen.is_valid = asked.valid();
            });
        }
        for (std::thread& each : threads) each.join();
        const std::vector<walked_range> expected{{0, 10, false},  {10, 10, true},  {20, 10, false}, {30, 20, true},
                                                 {50, 10, false}, {60, 10, false}, {70, 10, false}, {80, 120, true}};
        for (const all_answers& seen : answers) {
            EXPECT_EQ(seen.ranges, expected);
            EXPECT_EQ(seen.usage.free, 150u);
            EXPECT_EQ(seen.usage.largest_free, 120u);
            EXPECT_EQ(seen.usage.waiting, range_size);
            EXPECT_EQ(seen.usage.range_count, 5u);
            EXPECT_EQ(seen.usage.free_count, 3u);
            EXPECT_EQ(seen.json, answers[0].json);
            EXPECT_NE(seen.json.find("{\"offset\": 30, \"size\": 20, \"state\": \"free\"}"), std::string::npos);
            EXPECT_EQ(seen.capacity, capacity);
            EXPECT_EQ(seen.held_size, range_size);
            EXPECT_EQ(seen.waiting_size, range_size);
            EXPECT_TRUE(seen.is_valid);
        }
    }
}

}
