// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/standings.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/layout.hpp"
#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/json/json.hpp"
#include "report/letters.hpp"
#include "report/table/markdown.hpp"
#include "report/table/text.hpp"
#include "report/table/versions.hpp"

namespace tenure::lab {

namespace {

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

contestant_result who(std::string name, contestant_role role, std::vector<double> values) {
    contestant_result made;
    made.name = std::move(name);
    made.role = role;
    for (std::size_t index = 0; index < values.size(); ++index) {
        const double value = values[index];
        made.metrics.push_back(
            {"figure " + std::to_string(index), "warm", "ns/op", better::smaller, std::vector<double>(7, value)});
    }
    return made;
}

/// Ours leads at 0, is level at 1, trails a little at 2, much at 3 and 4, and by an unknown distance at 5.
result six_figures() {
    result found;
    found.experiments.resize(2);
    experiment_result& one = found.experiments[0];
    one.name = "race";
    one.baseline = "the bare one";
    one.rounds = 7;
    one.contestants = {who("tenure pool", contestant_role::ours, {5, 10.05, 10.9, 15, 40, 7}),
                       who("tenure heap", contestant_role::ours, {6, 10.06, 11, 16, 50, 8}),
                       who("jemalloc", contestant_role::peer, {10, 10, 10, 10, 10, 0}),
                       who("mimalloc", contestant_role::peer, {20, 20, 20, 20, 8, 9}),
                       who("the bare one", contestant_role::reference, {1, 1, 1, 1, 1, 1})};
    one.primary = {{"figure 3"}};
    found.experiments[1].name = "nobody else";
    found.experiments[1].contestants = {who("tenure pool", contestant_role::ours, {5})};
    return found;
}

TEST(standings, figures_are_counted_as_the_conclusion_judges_them) {
    const standings found = standings_of(six_figures());
    ASSERT_EQ(found.experiments.size(), 1U) << "the other has nobody to compare with";
    const standing_counts& counts = found.experiments[0].counts;
    EXPECT_EQ(counts.leads, 1U);
    EXPECT_EQ(counts.level, 1U);
    EXPECT_EQ(counts.trails_little, 1U);
    EXPECT_EQ(counts.trails_much, 3U);
    EXPECT_EQ(counts.figures(), 6U);
    EXPECT_EQ(found.all.figures(), 6U);
}

TEST(standings, the_longest_distance_stands_first_before_it_what_is_from_0) {
    const standings found = standings_of(six_figures());
    ASSERT_EQ(found.trails.size(), 4U);
    EXPECT_EQ(found.trails[0].metric, "figure 5");
    EXPECT_EQ(found.trails[0].ratio.count, 0U);
    EXPECT_EQ(distance_text(found.trails[0].ratio, found.trails[0].ours_median, found.trails[0].other_median),
              "from 0");
    EXPECT_EQ(found.trails[1].metric, "figure 4");
    EXPECT_EQ(found.trails[1].ours, "tenure pool");
    EXPECT_EQ(found.trails[1].other, "mimalloc") << "the bare one is a reference, though it is the baseline";
    EXPECT_DOUBLE_EQ(found.trails[1].ratio.median, 5.0);
    EXPECT_EQ(found.trails[2].metric, "figure 3");
    EXPECT_TRUE(found.trails[2].primary);
    EXPECT_EQ(found.trails[3].metric, "figure 2");
    EXPECT_TRUE(says(text_conclusions(six_figures(), {100}),
                     "from 0 race: figure 5, warm: tenure pool 7.00, jemalloc 0 ns/op"));
    EXPECT_TRUE(
        says(text_conclusions(six_figures(), {400}), "It trails most at figure 5, warm: from 0 against jemalloc."));
}

TEST(standings, the_sum_is_told_without_the_vectors_as_well) {
    result found = six_figures();
    EXPECT_FALSE(standings_of(found).all_but_vectors);
    found.experiments[1] = found.experiments[0];
    found.experiments[1].name = "vectors";
    const standings counted = standings_of(found);
    ASSERT_TRUE(counted.all_but_vectors);
    EXPECT_EQ(counted.all.figures(), 12U);
    EXPECT_EQ(counted.all_but_vectors->figures(), 6U);
    EXPECT_TRUE(says(text_conclusions(found, {100}), "all but vectors"));
    EXPECT_TRUE(says(to_html(found), "all but vectors"));
    EXPECT_TRUE(says(markdown_distance(found), "| all but vectors | 1 | 1 | 1 | 3 | 6 |"));
    EXPECT_TRUE(says(to_json(found), "\"all_but_vectors\""));
    found.experiments.erase(found.experiments.begin());
    EXPECT_FALSE(standings_of(found).all_but_vectors) << "there are no others";
}

TEST(standings, the_sum_over_experiments_is_that_of_the_rows) {
    const standings found = standings_of(fixture::plausible_result());
    standing_counts sum;
    for (const experiment_standing& one : found.experiments) {
        sum.leads += one.counts.leads;
        sum.level += one.counts.level;
        sum.trails_little += one.counts.trails_little;
        sum.trails_much += one.counts.trails_much;
    }
    EXPECT_EQ(sum.leads, found.all.leads);
    EXPECT_EQ(sum.level, found.all.level);
    EXPECT_EQ(sum.trails_little + sum.trails_much, found.trails.size());
    EXPECT_EQ(sum.figures(), found.all.figures());
}

TEST(standings, the_terminal_ends_with_them) {
    const std::string text = text_conclusions(six_figures(), {100});
    EXPECT_TRUE(says(text, "  race            1      1      1      3    6\n")) << text;
    EXPECT_TRUE(says(text, "  all             1      1      1      3    6\n")) << text;
    EXPECT_TRUE(says(text, "×5.00 race: figure 4, warm: tenure pool 40.0, mimalloc 8.00 ns/op")) << text;
    EXPECT_FALSE(says(text_conclusions(result{}), "Distance to the best"));
}

TEST(standings, the_ten_longest_distances_are_printed) {
    result found = six_figures();
    found.experiments[0].contestants = {who("tenure pool", contestant_role::ours, std::vector<double>(14, 3.0)),
                                        who("jemalloc", contestant_role::peer, std::vector<double>(14, 1.0))};
    const std::string text = text_conclusions(found, {100});
    std::size_t lines = 0;
    for (std::size_t at = text.find("×3.00 race"); at != std::string::npos; at = text.find("×3.00 race", at + 1)) {
        ++lines;
    }
    EXPECT_EQ(lines, longest_distances);
    EXPECT_EQ(standings_of(found).trails.size(), 14U);
}

TEST(standings, the_json_has_the_counts_and_every_figure_that_trails) {
    const std::string text = to_json(six_figures());
    EXPECT_TRUE(says(text, "\"distance\": {"));
    EXPECT_TRUE(says(text, "\"trails_by_more\": 3"));
    EXPECT_TRUE(says(text, "\"other\": \"mimalloc\""));
}

TEST(standings, the_page_has_them) {
    const std::string page = to_html(six_figures());
    EXPECT_TRUE(says(page, "<h2>Distance to the best of the others</h2>"));
    EXPECT_TRUE(says(page, "×5.00"));
    EXPECT_FALSE(says(to_html(result{}), "id=\"distance\""));
}

TEST(standings, a_summary_shows_the_primary_figures_and_no_others) {
    const std::string text = text_conclusions(six_figures(), {100});
    const std::size_t place = text.find("primary figure");
    ASSERT_NE(place, std::string::npos) << text;
    const std::string rows = text.substr(place, text.find("Distance to", place) - place);
    EXPECT_TRUE(says(rows, "figure 3, warm, ns/op")) << rows;
    EXPECT_TRUE(says(rows, "×1.50  trails    15.0     10.0   tenure pool       jemalloc")) << rows;
    EXPECT_FALSE(says(rows, "figure 4")) << rows;
    EXPECT_TRUE(says(to_html(six_figures()), "The primary figures of this experiment"));
}

TEST(standings, no_line_passes_the_width) {
    for (std::size_t width = 40; width <= 160; width += 5) {
        std::string text = text_conclusions(six_figures(), {width});
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            EXPECT_LE(columns_of(text.substr(begin, end - begin)), width);
            begin = end + 1;
        }
    }
}

TEST(standings, a_primary_figure_that_one_contestant_has_is_shown_without_an_opponent) {
    result found = six_figures();
    found.experiments[0].contestants[2].metrics.push_back(
        {"drop", "warm", "ns", better::smaller, std::vector<double>(7, 3.0)});
    found.experiments[0].primary = {{"drop"}};
    const std::string text = text_conclusions(found, {100});
    EXPECT_TRUE(says(text, "drop, warm, ns")) << text;
}

TEST(conclusion, a_primary_figure_that_nobody_measured_is_named) {
    result found = six_figures();
    EXPECT_FALSE(says(text_conclusions(found, {200}), "not measured"));
    found.experiments[0].primary.push_back({"p99", "free, *"});
    found.experiments[0].primary.push_back({"drop"});
    EXPECT_TRUE(says(text_conclusions(found, {200}), "Primary figures that were not measured: p99, free, *; drop."));
}

TEST(conclusion, figures_that_stand_twice_in_an_earlier_result_are_said_to) {
    result found = six_figures();
    EXPECT_FALSE(says(text_conclusions(found, {200}), "Ambiguous"));
    std::vector<metric>& metrics = found.experiments[0].contestants[0].metrics;
    metrics.push_back(metrics[2]);
    metrics.push_back(metrics[2]);
    metrics.push_back(metrics[3]);
    EXPECT_EQ(ambiguous_figures(found.experiments[0].contestants[0]), 2U);
    EXPECT_TRUE(says(text_conclusions(found, {200}),
                     "Ambiguous: 2 figures of a contestant appear twice under one name; only the first is shown."));
}

TEST(versions, the_peers_of_a_table_are_named_with_their_versions) {
    result found = six_figures();
    std::vector<contestant_result>& row = found.experiments[0].contestants;
    row[0].version = "0.4.0";
    row[2].version = "5.3.0";
    row[3].version = "gperftools minimal 2.10";
    const layout laid = lay_out(found.experiments[0]);
    EXPECT_EQ(versions_of(laid.timed[0]), "Versions: jemalloc 5.3.0, mimalloc: gperftools minimal 2.10");
    EXPECT_TRUE(says(text_tables(found, {100}), versions_of(laid.timed[0])));
    EXPECT_TRUE(says(to_html(found), versions_of(laid.timed[0])));
    row[2].version = row[3].version = {};
    EXPECT_EQ(versions_of(lay_out(found.experiments[0]).timed[0]), "");
}

}

}
