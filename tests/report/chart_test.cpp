// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/bar_chart.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/chart/distance_chart.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/fixture.hpp"
#include "report/page_check.hpp"
#include "support/holds.hpp"
#include "support/process.hpp"

namespace tenure::lab {

namespace {

using support::holds;

distance_view view_of(const contestant_result& who, const std::vector<std::int64_t>& values) {
    return {&who, {"cold"}, &values};
}

TEST(scale, lengths_begin_at_zero) {
    const scale axis = scale::for_lengths({1.0, 10.0}, 100);
    EXPECT_EQ(axis.kind(), scale_kind::linear);
    EXPECT_DOUBLE_EQ(axis.place(0), 0);
    EXPECT_NEAR(axis.place(10) / axis.place(1), 10.0, 1e-9);
    EXPECT_LE(axis.place(10), 100);
}

TEST(scale, a_range_past_the_threshold_is_logarithmic) {
    EXPECT_EQ(scale::for_lengths({1.0, 30.0}, 100).kind(), scale_kind::linear);
    const scale axis = scale::for_lengths({1.0, 30.1, 1000.0}, 100);
    EXPECT_EQ(axis.kind(), scale_kind::logarithmic);
    EXPECT_NEAR(axis.place(100) - axis.place(10), axis.place(1000) - axis.place(100), 1e-9);
    EXPECT_GT(axis.place(1), 0) << "the smallest has a length too";
    EXPECT_DOUBLE_EQ(axis.place(0), 0) << "what has no logarithm stands at the start";
}

TEST(scale, parts_are_never_logarithmic) {
    EXPECT_EQ(scale::for_parts({0.001, 1000.0}, 100).kind(), scale_kind::linear);
}

TEST(scale, nothing_or_zero_is_still_an_axis) {
    EXPECT_DOUBLE_EQ(scale::for_lengths({}, 100).place(0.5), 50);
    EXPECT_DOUBLE_EQ(scale::for_lengths({0.0, 0.0}, 100).place(0), 0);
    EXPECT_FALSE(scale::for_range(5, 5, 100).ticks().empty());
}

TEST(scale, a_value_below_zero_makes_the_axis_begin_there_and_never_a_logarithm) {
    const scale axis = scale::for_lengths({-2.0, 0.01, 10.0}, 100);
    EXPECT_EQ(axis.kind(), scale_kind::linear);
    EXPECT_GT(axis.place(0), 0);
    EXPECT_LT(axis.place(-2), axis.place(0));
    EXPECT_NEAR((axis.place(10) - axis.place(0)) / (axis.place(0) - axis.place(-2)), 5.0, 1e-9);
    const scale below = scale::for_lengths({-3.0, -1.0}, 100);
    EXPECT_LT(below.place(-3), below.place(-1));
    EXPECT_DOUBLE_EQ(below.place(0), 100);
}

TEST(scale, ticks_are_round_and_few) {
    const std::vector<double> linear = scale::for_range(0, 18.9, 100).ticks();
    EXPECT_EQ(linear, (std::vector{0.0, 5.0, 10.0, 15.0}));
    const std::vector<double> wide = scale::for_lengths({0.01, 1000}, 100).ticks();
    EXPECT_GE(wide.size(), 4U);
    EXPECT_LE(wide.size(), 8U);
    const std::vector<double> narrow = scale::for_lengths({1, 50}, 100).ticks();
    EXPECT_NE(std::find(narrow.begin(), narrow.end(), 20.0), narrow.end());
}

TEST(svg, coordinates_have_one_decimal_at_most) {
    EXPECT_EQ(coordinate(3.0), "3");
    EXPECT_EQ(coordinate(3.14159), "3.1");
    EXPECT_EQ(coordinate(-0.04), "0");
}

TEST(svg, words_are_escaped) {
    svg picture(10, 10, "p", "a<b", "c&d");
    picture.open("\"tip\"");
    picture.text(1, 2, "<x>", "label", anchor::end);
    picture.close();
    const std::string text = picture.str();
    EXPECT_TRUE(holds(text, ">a&lt;b</title>"));
    EXPECT_TRUE(holds(text, ">c&amp;d</desc>"));
    EXPECT_TRUE(holds(text, "&lt;x&gt;</text>"));
    EXPECT_TRUE(faults_of(text).empty());
}

TEST(bar_chart, bars_are_sorted_best_first) {
    const result found = fixture::small_result();
    const layout laid = lay_out(found.experiments[0]);
    const std::string text = draw({laid.timed[0], {0}, "c", "alloc"});
    EXPECT_LT(text.find(">trivial bump<"), text.find(">tenure temp<"));
    EXPECT_LT(text.find(">tenure temp<"), text.find(">glibc malloc<"));
    EXPECT_TRUE(holds(text, "2.25   ×0.25"));
    EXPECT_TRUE(holds(text, "ns/op, smaller is better"));
}

TEST(bar_chart, a_bar_below_zero_ends_at_zero_and_has_no_ratio) {
    result found = fixture::small_result();
    found.experiments[0].contestants[1].metrics[0].samples = {-3.0, -3.0, -3.0}; // alloc, warm, of tenure temp
    const layout laid = lay_out(found.experiments[0]);
    const bar_chart chart{laid.timed[0], {0}, "c", "alloc"};
    const std::string text = draw(chart);
    EXPECT_TRUE(faults_of(text).empty());
    EXPECT_TRUE(holds(text, ">−3.00<")) << "the number alone";
    EXPECT_FALSE(holds(text, "−3.00   ×"));
    EXPECT_FALSE(holds(text, "nan"));
    EXPECT_LT(text.find(">tenure temp<"), text.find(">trivial bump<"));
    const scale axis = scale::for_lengths({-3.0, 9.5}, 432); // the high end of glibc's spread
    const std::string length = coordinate(axis.place(0) - axis.place(-3));
    EXPECT_TRUE(holds(text, "width=\"" + length + "\" height=\"11\" class=\"ours\"")) << length << "\n" << text;
}

TEST(bar_chart, where_larger_is_better_the_largest_comes_first) {
    const result found = fixture::small_result();
    const layout laid = lay_out(found.experiments[1]);
    const std::string text = draw({laid.timed[0], {0}, "c", "operations"});
    EXPECT_LT(text.find(">tenure temp<"), text.find(">glibc malloc<"));
    EXPECT_TRUE(holds(text, "larger is better"));
}

TEST(bar_chart, a_figure_of_nobody_is_no_chart) {
    table empty;
    empty.figures.push_back({"alloc", "", "ns", better::smaller, figure_kind::timed});
    EXPECT_EQ(draw({empty, {0}, "c", "alloc"}), "");
}

TEST(bar_chart, a_round_past_the_axis_becomes_an_arrow) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].metrics[0].samples = {9.0, 9.0, 9.0, 9.0, 90.0};
    const layout laid = lay_out(found.experiments[0]);
    EXPECT_TRUE(holds(draw({laid.timed[0], {0}, "c", "alloc"}), "l4 3l-4 3"));
}

TEST(bar_chart, memory_is_never_logarithmic) {
    const result found = fixture::plausible_result();
    const layout laid = lay_out(found.experiments[1]);
    EXPECT_FALSE(holds(draw({laid.memory[0], {1}, "c", "after free"}), "logarithmic"));
}

TEST(bar_chart, related_figures_share_a_contestant_and_have_a_key) {
    const result found = fixture::plausible_result();
    const layout laid = lay_out(found.experiments[1]);
    const std::string text = draw({laid.memory[0], {0, 1}, "c", "memory"});
    EXPECT_TRUE(holds(text, "From above:"));
    EXPECT_FALSE(holds(text, "logarithmic"));
    EXPECT_EQ(count_of(text, "<g>"), laid.memory[0].rows.size());
}

TEST(distance_chart, the_outlier_is_clipped_and_printed) {
    contestant_result who;
    who.name = "Temp";
    const std::vector<std::int64_t> values = fixture::article_temp_distances();
    const std::string text = draw_distances(view_of(who, values), 819.0, "d");
    EXPECT_TRUE(holds(text, "<b>1 beyond the scale</b>"));
    EXPECT_TRUE(holds(text, ">140,685,055,869,340 at 819<"));
    EXPECT_TRUE(holds(text, ">40<")) << "the scale is that of the others";
    EXPECT_TRUE(faults_of(text).empty());
}

TEST(distance_chart, equal_outliers_are_named_once) {
    contestant_result who;
    std::vector<std::int64_t> values(600, 4);
    for (std::size_t index = 99; index < 600; index += 100) values[index] = -1'000'000;
    const std::string text = draw_distances(view_of(who, values), std::nullopt, "d");
    EXPECT_TRUE(holds(text, ">−1,000,000 ×6, first at 100<"));
}

TEST(distance_chart, a_run_of_equal_distances_is_one_line) {
    contestant_result who;
    const std::vector<std::int64_t> values(999, 12);
    const std::string text = draw_distances(view_of(who, values), std::nullopt, "d");
    const std::size_t begin = text.find("<path d=\"M");
    EXPECT_EQ(count_of(text.substr(begin, text.find('"', begin + 9) - begin), "M"), 1U);
}

TEST(distance_chart, a_million_points_stay_a_small_picture) {
    contestant_result who;
    std::vector<std::int64_t> values;
    const std::size_t count = support::under_sanitizer() ? 60'000 : 1'000'000;
    values.reserve(count);
    std::uint64_t state = 1;
    while (values.size() < count) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        values.push_back(static_cast<std::int64_t>(state >> 44U));
    }
    EXPECT_LT(draw_distances(view_of(who, values), std::nullopt, "d").size(), 200'000U);
    EXPECT_LT(draw_buckets(view_of(who, values), "b").size(), 10'000U);
}

TEST(distance_chart, extreme_distances_are_drawn_without_overflow) {
    contestant_result who;
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::vector<std::int64_t>& values :
         {std::vector{least, most}, std::vector{most}, std::vector{least, least}, std::vector<std::int64_t>{0}}) {
        const std::string text = draw_distances(view_of(who, values), std::nullopt, "d");
        EXPECT_TRUE(faults_of(text).empty());
        EXPECT_FALSE(holds(text, "nan"));
        EXPECT_FALSE(holds(text, "inf"));
    }
}

TEST(bucket_chart, many_buckets_are_summed_up) {
    contestant_result who;
    std::vector<std::int64_t> values;
    values.reserve(200);
    for (int index = 0; index < 100; ++index) values.push_back(index * 16);
    const std::string text = draw_buckets(view_of(who, values), "b");
    EXPECT_TRUE(holds(text, "and 92 other distances, each seen once"));
    values.insert(values.end(), values.begin(), values.end() - 10);
    EXPECT_TRUE(holds(draw_buckets(view_of(who, values), "b"), "each seen at most 2 times"));
}

}

}
