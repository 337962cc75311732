// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/ranking.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "report/fixture.hpp"

namespace tenure::lab {

namespace {

TEST(ranking, the_score_is_the_geometric_mean_of_the_ratios) {
    const result found = fixture::small_result();
    const std::vector<ranked> order = rank(found.experiments[0]);
    ASSERT_EQ(order.size(), 2U);
    EXPECT_EQ(order[0].name, "tenure temp");
    // alloc warm 0.25, free warm 0.04 / 10, alloc cold 3.5 / 36
    const double expected = std::cbrt(0.25 * (0.04 / 10.0) * (3.5 / 36.0));
    EXPECT_NEAR(order[0].score, expected, 1e-12);
    EXPECT_EQ(order[1].name, "glibc malloc");
    EXPECT_DOUBLE_EQ(order[1].score, 1.0);
}

TEST(ranking, memory_and_facts_do_not_count) {
    const result found = fixture::small_result();
    EXPECT_EQ(rank(found.experiments[0])[0].measured, 3U);
    EXPECT_EQ(rank(found.experiments[0])[0].possible, 3U);
}

TEST(ranking, where_larger_is_better_the_ratio_is_turned_over) {
    const result found = fixture::small_result();
    const std::vector<ranked> order = rank(found.experiments[1]);
    EXPECT_EQ(order[0].name, "tenure temp");
    EXPECT_DOUBLE_EQ(order[0].score, 0.5);
}

TEST(ranking, who_lacks_more_than_half_is_not_ranked) {
    result found = fixture::small_result();
    std::vector<contestant_result>& contestants = found.experiments[0].contestants;
    contestants.push_back(contestants[0]);
    contestants.back().name = "jemalloc";
    contestants[1].metrics.resize(1);
    const std::vector<ranked> order = rank(found.experiments[0]);
    ASSERT_EQ(order.size(), 2U);
    for (const ranked& one : order) EXPECT_NE(one.name, "tenure temp");
}

TEST(ranking, what_the_experiment_names_as_unranked_does_not_count) {
    result found = fixture::small_result();
    found.experiments[0].unranked = {"free"};
    const std::vector<ranked> order = rank(found.experiments[0]);
    ASSERT_EQ(order.size(), 2U);
    EXPECT_NEAR(order[0].score, std::sqrt(0.25 * (3.5 / 36.0)), 1e-12);
    EXPECT_EQ(order[0].measured, 2U);
    EXPECT_EQ(order[0].possible, 2U);
}

TEST(ranking, a_figure_below_zero_has_no_ratio_and_does_not_count) {
    result found = fixture::small_result();
    std::vector<double>& samples = found.experiments[0].contestants[1].metrics[1].samples; // free, warm
    samples = {-0.04, 0.04, 0.05};
    const std::vector<ranked> order = rank(found.experiments[0]);
    ASSERT_EQ(order.size(), 2U);
    EXPECT_NEAR(order[0].score, std::sqrt(0.25 * (3.5 / 36.0)), 1e-12);
    EXPECT_EQ(order[0].measured, 2U);
    EXPECT_EQ(order[0].possible, 3U);
}

TEST(ranking, without_a_baseline_nobody_is_ranked) {
    result found = fixture::small_result();
    found.experiments[0].baseline = "nobody";
    EXPECT_TRUE(rank(found.experiments[0]).empty());
}

TEST(ranking, a_reference_is_no_choice_even_as_the_baseline) {
    result found = fixture::small_result();
    found.experiments[0].baseline = "trivial bump";
    for (const ranked& one : rank(found.experiments[0])) EXPECT_NE(one.name, "trivial bump");
}

}

}
