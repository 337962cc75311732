// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/distances.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "report/fixture.hpp"

namespace tenure::lab {

namespace {

TEST(distances, buckets_count_in_order_of_first_appearance) {
    const std::vector<bucket> buckets = buckets_of({28, 28, 44, 28, -12});
    ASSERT_EQ(buckets.size(), 3U);
    EXPECT_EQ(buckets[0].distance, 28);
    EXPECT_EQ(buckets[0].count, 3U);
    EXPECT_EQ(buckets[1].distance, 44);
    EXPECT_EQ(buckets[2].distance, -12);
}

TEST(distances, the_jump_of_the_article_is_clipped_and_nothing_else) {
    const plot_range range = range_of(fixture::article_temp_distances());
    EXPECT_EQ(range.clipped, std::vector<std::size_t>{818});
    EXPECT_EQ(range.low, 16);
    EXPECT_EQ(range.high, 44);
}

TEST(distances, scattered_distances_are_all_shown) {
    std::vector<std::int64_t> scattered;
    scattered.reserve(1000);
    for (int index = 0; index < 1000; ++index) scattered.push_back((index * 7919 % 1000 - 500) * 16384);
    EXPECT_TRUE(range_of(scattered).clipped.empty());
}

TEST(distances, two_close_values_are_both_shown) {
    std::vector<std::int64_t> close(999, 28);
    close[500] = 44;
    EXPECT_TRUE(range_of(close).clipped.empty());
}

TEST(distances, few_distances_are_all_shown) {
    EXPECT_TRUE(range_of({}).clipped.empty());
    EXPECT_TRUE(range_of({5}).clipped.empty());
    EXPECT_TRUE(range_of({-1000000, 1000000}).clipped.empty());
}

TEST(distances, the_whole_range_of_integers_does_not_overflow) {
    std::vector<std::int64_t> values(100, 0);
    values[10] = std::numeric_limits<std::int64_t>::min();
    values[20] = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(range_of(values).clipped, (std::vector<std::size_t>{10, 20}));
}

TEST(distances, the_summary_knows_the_usual_one_and_the_backward_ones) {
    const distance_summary found = summarize_distances({-12, -12, 4, -12, 4096});
    EXPECT_EQ(found.count, 5U);
    EXPECT_EQ(found.usual, -12);
    EXPECT_EQ(found.usual_count, 3U);
    EXPECT_EQ(found.distinct, 3U);
    EXPECT_EQ(found.backwards, 3U);
    EXPECT_EQ(found.lowest, -12);
    EXPECT_EQ(found.highest, 4096);
}

TEST(distances, variants_with_equal_lists_are_joined) {
    const result found = fixture::small_result();
    const std::vector<distance_view> views = distances_of(found.experiments[0]);
    ASSERT_EQ(views.size(), 3U);
    EXPECT_EQ(views[0].variants, (std::vector<std::string>{"cold", "warm"}));
    EXPECT_EQ(views[1].variants, std::vector<std::string>{"cold"});
    EXPECT_EQ(views[2].variants, std::vector<std::string>{"warm"});
}

}

}
