// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/experiment_chart.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/chart/chart_figures.hpp"
#include "report/fixture.hpp"
#include "report/page_check.hpp"
#include "report/snapshot.hpp"
#include "support/holds.hpp"

namespace tenure::lab {

namespace {

using fixture::ours;
using fixture::peer;
using support::holds;
using names = std::vector<std::string>;

/// The names of the figures that a chart shows, in its order.
names shown_in(const experiment_result& found) {
    const layout laid = lay_out(found);
    names shown;
    for (const std::size_t index : choose_chart_figures(found, laid.whole).figures) {
        shown.push_back(figure_name(laid.whole.figures[index]));
    }
    return shown;
}

contestant_result runner(std::string name, contestant_role role, double value) {
    contestant_result made;
    made.name = std::move(name);
    made.role = role;
    made.metrics = {{"alloc", "warm", "ns/op", better::smaller, std::vector<double>(7, value)}};
    return made;
}

/// One panel with these contestants.
result race(std::vector<contestant_result> contestants) {
    result found = fixture::small_result();
    found.experiments.resize(1);
    found.experiments[0].contestants = std::move(contestants);
    found.experiments[0].primary = {{"alloc", "warm"}};
    return found;
}

std::string chart_of(const result& found) { return experiment_chart(found, found.experiments.at(0)); }

TEST(experiment_chart, the_picture_is_as_it_was) { expect_snapshot("chart.svg", chart_of(fixture::small_result())); }

TEST(experiment_chart, it_is_a_file_of_its_own_for_light_and_dark) {
    const std::string text = chart_of(fixture::small_result());
    EXPECT_TRUE(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\""));
    EXPECT_TRUE(text.ends_with("</svg>\n"));
    EXPECT_EQ(faults_of(text), names{});
    EXPECT_EQ(count_of(text, "<style>"), 1u);
    EXPECT_TRUE(holds(text, "@media(prefers-color-scheme:dark)"));
    EXPECT_FALSE(holds(text, "url(")) << "it loads nothing";
    EXPECT_FALSE(holds(text, "var(")) << "not every program that draws SVG knows variables";
}

TEST(experiment_chart, it_says_where_the_figures_come_from) {
    const std::string text = chart_of(fixture::small_result());
    EXPECT_TRUE(holds(text, "Medians of 3 rounds"));
    EXPECT_TRUE(holds(text, "Example CPU @ 2.50GHz, 2 cores, Debian 12, GCC 12.2.0 -O2 -DNDEBUG, commit 0123abc, "
                            "2026-11-21."));
}

TEST(experiment_chart, a_doubtful_result_is_marked) {
    result found = fixture::small_result();
    EXPECT_FALSE(holds(chart_of(found), "class=\"mark\""));
    found.machine.flags = "-O0";
    found.complete = false;
    EXPECT_TRUE(holds(chart_of(found), ">unoptimised build, interrupted</text>"));
}

TEST(experiment_chart, figures_with_fewer_rounds_are_told) {
    result found = fixture::small_result();
    for (contestant_result& who : found.experiments[0].contestants) {
        for (metric& each : who.metrics) {
            if (each.variant == "cold") each.samples.resize(2);
        }
    }
    EXPECT_TRUE(holds(chart_of(found), "Medians of 2 to 3 rounds"));
}

TEST(experiment_chart, choices_come_best_first_and_the_others_below_them) {
    const std::string text = chart_of(
        race({runner("slow", peer, 9), runner("bare", contestant_role::reference, 1), runner("our own", ours, 3),
              runner("fast", peer, 2), runner("with checks", contestant_role::checked, 4)}));
    std::size_t last = 0;
    for (const std::string_view name : {">fast<", ">our own<", ">slow<", ">bare<", ">with checks<"}) {
        const std::size_t place = text.find(name);
        ASSERT_NE(place, std::string::npos) << name;
        EXPECT_GT(place, last) << name;
        last = place;
    }
    EXPECT_TRUE(holds(text, "class=\"ours\" text-anchor=\"start\">our own<"));
    EXPECT_TRUE(holds(text, "class=\"value best\" text-anchor=\"end\">2.00<"));
    EXPECT_EQ(count_of(text, "class=\"rule\""), 1u) << "the line between them";
}

TEST(experiment_chart, the_axis_belongs_to_the_choices) {
    const auto reference = [](double value) { return runner("bare", contestant_role::reference, value); };
    EXPECT_FALSE(holds(chart_of(race({runner("a", ours, 10), runner("b", peer, 8), reference(15)})), "class=\"cut\""));
    const std::string cut = chart_of(race({runner("a", ours, 10), runner("b", peer, 8), reference(500)}));
    EXPECT_EQ(count_of(cut, "class=\"cut\""), 1u);
    EXPECT_FALSE(holds(cut, "logarithmic"));
    EXPECT_TRUE(holds(cut, ">500<"));
    EXPECT_FALSE(holds(chart_of(race({runner("a", ours, 10), reference(15.1)})), "class=\"cut\""))
        << "with one choice, the reference is what it is compared with";
    EXPECT_TRUE(holds(chart_of(race({runner("a", ours, 10), runner("b", peer, 400)})), "logarithmic scale"));
}

TEST(experiment_chart, names_that_are_too_long_stay_different) {
    const std::string text = chart_of(race({runner("a pool of a very long name indeed (locked)", ours, 1),
                                            runner("a pool of a very long name indeed (unlocked)", peer, 2)}));
    EXPECT_TRUE(holds(text, ">a pool of a ve…deed (locked)<")) << text;
    EXPECT_TRUE(holds(text, ">a pool of a ve…ed (unlocked)<")) << text;
}

TEST(experiment_chart, names_are_escaped_and_numbers_are_numbers) {
    constexpr double lost = std::numeric_limits<double>::quiet_NaN();
    result found = race({runner("<&\">", ours, -3), runner("b", peer, 8), runner("c", peer, 0)});
    found.experiments[0].contestants[1].metrics[0].samples[2] = lost;
    found.experiments[0].contestants.push_back(runner("d", peer, std::numeric_limits<double>::infinity()));
    const std::string text = chart_of(found);
    EXPECT_EQ(faults_of(text), names{});
    EXPECT_TRUE(holds(text, ">&lt;&amp;&quot;&gt;</text>"));
    EXPECT_FALSE(holds(text, "nan"));
    EXPECT_FALSE(holds(text, "\"inf"));
}

TEST(experiment_chart, without_a_primary_figure_there_is_none) {
    result found = fixture::small_result();
    EXPECT_EQ(experiment_chart(found, found.experiments.at(1)), "");
    found.experiments[0].primary = {{"no such figure", "*"}};
    EXPECT_EQ(chart_of(found), "");
    EXPECT_EQ(chart_of(race({runner("alone", ours, 1)})).find("<svg"), 0u) << "one contestant is shown by itself";
    EXPECT_EQ(chart_of(race({runner("a", ours, 0), runner("b", peer, 0)})), "") << "no bar has a length";
}

TEST(chart_figures, all_that_fit_are_shown_with_memory_last) {
    EXPECT_EQ(shown_in(fixture::small_result().experiments[0]), (names{"alloc, warm", "alloc, cold", "peak"}));
}

TEST(chart_figures, of_more_than_fit_each_variant_shows_the_figure_declared_first) {
    result found = fixture::plausible_result();
    experiment_result& pools = found.experiments[1];
    pools.primary = {{"free", "*"}, {"alloc", "*"}, {"new and delete", "*"}, {"peak", "*"}, {"after free", "*"}};
    EXPECT_EQ(shown_in(pools),
              (names{"new and delete, 8 B, one at a time", "free, 8 B, 5 M in order", "free, 8 B, 5 M at random",
                     "new and delete, 64 B, one at a time", "free, 64 B, 5 M in order", "peak, 64 B"}));
    const layout laid = lay_out(pools);
    EXPECT_EQ(choose_chart_figures(pools, laid.whole).primary, 14u);
    EXPECT_TRUE(holds(experiment_chart(found, pools), "; 6 of 14 primary figures."));
}

TEST(chart_figures, figures_declared_early_fill_what_remains) {
    result found = fixture::plausible_result();
    experiment_result& pools = found.experiments[1];
    pools.primary = {{"free", "8 B, *"}, {"alloc", "8 B, *"}, {"refill", "8 B, *"},
                     {"peak", "*"},      {"after free", "*"}, {"drop", "*"}};
    const names shown = shown_in(pools);
    EXPECT_EQ(shown.size(), max_panels);
    EXPECT_EQ(shown.back(), "peak, 64 B");
    EXPECT_EQ(std::count(shown.begin(), shown.end(), "after free, 64 B"), 0) << "one panel is enough for memory";
}

}

}
