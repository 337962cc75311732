// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(statistics, the_median_of_an_odd_count_is_a_sample) {
    EXPECT_DOUBLE_EQ(summarize(std::vector{3.0, 1.0, 2.0}).median, 2.0);
}

TEST(statistics, the_median_of_an_even_count_lies_between) {
    EXPECT_DOUBLE_EQ(summarize(std::vector{4.0, 1.0, 2.0, 3.0}).median, 2.5);
}

TEST(statistics, the_spread_is_the_middle_half) {
    const summary found = summarize(std::vector{1.0, 2.0, 3.0, 4.0, 100.0});
    EXPECT_DOUBLE_EQ(found.low, 2.0);
    EXPECT_DOUBLE_EQ(found.high, 4.0);
    EXPECT_EQ(found.count, 5U);
}

TEST(statistics, failed_rounds_are_skipped) {
    const summary found = summarize(std::vector{nothing, 5.0, nothing, 7.0});
    EXPECT_DOUBLE_EQ(found.median, 6.0);
    EXPECT_EQ(found.count, 2U);
}

TEST(statistics, without_samples_everything_is_nan) {
    for (const std::vector<double>& samples : {std::vector<double>{}, std::vector{nothing, nothing}}) {
        const summary found = summarize(samples);
        EXPECT_TRUE(std::isnan(found.median) && std::isnan(found.low) && std::isnan(found.high));
        EXPECT_EQ(found.count, 0U);
    }
}

TEST(statistics, one_sample_is_its_own_spread) {
    const summary found = summarize(std::vector{3.5});
    EXPECT_DOUBLE_EQ(found.low, 3.5);
    EXPECT_DOUBLE_EQ(found.high, 3.5);
}

TEST(statistics, an_infinite_neighbour_of_no_weight_does_not_spoil_the_median) {
    EXPECT_DOUBLE_EQ(summarize(std::vector{1.0, 2.0, infinity}).median, 2.0);
}

TEST(statistics, quantiles_reach_both_ends) {
    const std::vector samples{5.0, 1.0, 3.0};
    EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 1.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 5.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.75), 4.0);
}

TEST(statistics, ratios_pair_the_same_round) {
    const std::vector<double> ratios =
        round_ratios(std::vector{2.0, nothing, 9.0, 4.0}, std::vector{4.0, 5.0, nothing});
    ASSERT_EQ(ratios.size(), 4U);
    EXPECT_DOUBLE_EQ(ratios[0], 0.5);
    EXPECT_TRUE(std::isnan(ratios[1]));
    EXPECT_TRUE(std::isnan(ratios[2]));
    EXPECT_TRUE(std::isnan(ratios[3])) << "a round that the baseline never had";
}

TEST(statistics, a_machine_that_drifts_leaves_the_ratio_alone) {
    // Twice as slow in the second half of the run, for both.
    const std::vector samples{2.0, 2.0, 4.0, 4.0};
    const std::vector baseline{5.0, 5.0, 10.0, 10.0};
    EXPECT_DOUBLE_EQ(summarize(round_ratios(samples, baseline)).median, 0.4);
    EXPECT_DOUBLE_EQ(summarize(round_ratios(samples, baseline)).high, 0.4);
}

TEST(statistics, a_baseline_of_zero_gives_no_ratio) {
    EXPECT_TRUE(std::isnan(round_ratios(std::vector{1.0}, std::vector{0.0})[0]));
}

TEST(statistics, a_number_below_zero_takes_every_ratio_away) {
    const auto all_nan = [](const std::vector<double>& ratios) {
        return std::all_of(ratios.begin(), ratios.end(), [](double ratio) { return std::isnan(ratio); });
    };
    EXPECT_TRUE(all_nan(round_ratios(std::vector{-1.0, 2.0, 4.0}, std::vector{1.0, 1.0, 1.0})))
        << "not the ratio of the rounds that happen to be positive";
    EXPECT_TRUE(all_nan(round_ratios(std::vector{1.0, 2.0}, std::vector{1.0, -0.5})));
    EXPECT_TRUE(all_nan(round_ratios(std::vector{-1.0}, std::vector{-1.0}))) << "minus over minus is no factor either";
    EXPECT_DOUBLE_EQ(round_ratios(std::vector{0.0}, std::vector{2.0})[0], 0.0) << "nothing left is a ratio of nothing";
}

TEST(statistics, the_geometric_mean_of_inverse_ratios_is_one) {
    EXPECT_DOUBLE_EQ(geometric_mean(std::vector{0.25, 4.0}), 1.0);
    EXPECT_NEAR(geometric_mean(std::vector{1.0, 10.0, 100.0}), 10.0, 1e-12);
}

TEST(statistics, the_geometric_mean_skips_what_has_no_logarithm) {
    EXPECT_DOUBLE_EQ(geometric_mean(std::vector{0.0, -1.0, nothing, 3.0}), 3.0);
    EXPECT_TRUE(std::isnan(geometric_mean({})));
}

TEST(statistics, ranges_that_touch_are_not_apart) {
    const summary lower = summarize(std::vector<double>{1.0, 2.0, 3.0});
    EXPECT_EQ(lower.lowest, 1.0);
    EXPECT_EQ(lower.highest, 3.0);
    EXPECT_FALSE(ranges_apart(lower, summarize(std::vector<double>{3.0, 9.0, 9.0, 9.0, 9.0})));
    const summary apart = summarize(std::vector<double>{3.1, 9.0});
    EXPECT_TRUE(ranges_apart(lower, apart));
    EXPECT_TRUE(ranges_apart(apart, lower));
    EXPECT_FALSE(ranges_apart(lower, summarize({}))) << "nothing is not apart from something";
}

}

}
