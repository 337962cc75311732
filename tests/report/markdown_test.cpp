// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/table/markdown.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "report/analysis/conclusion.hpp"
#include "report/fixture.hpp"
#include "report/snapshot.hpp"
#include "report/table/text.hpp"
#include "support/holds.hpp"

namespace tenure::lab {

namespace {

using support::holds;

/// Bars that end cells: those without a backslash in front.
std::size_t cells_of(const std::string& line) {
    std::size_t bars = 0;
    for (std::size_t place = 0; place < line.size(); ++place) {
        bars += line[place] == '|' && (place == 0 || line[place - 1] != '\\');
    }
    return bars;
}

TEST(markdown, the_tables_are_as_they_were) { expect_snapshot("tables.md", markdown_tables(fixture::small_result())); }

TEST(markdown, only_primary_figures_are_shown) {
    result found = fixture::small_result();
    EXPECT_TRUE(holds(markdown_tables(found), "| alloc"));
    EXPECT_FALSE(holds(markdown_tables(found), "| free"));
    for (experiment_result& each : found.experiments) each.primary.clear();
    EXPECT_FALSE(holds(markdown_tables(found), "| alloc"));
}

TEST(markdown, every_row_has_the_cells_of_its_head_whatever_the_names_are) {
    result found = fixture::plausible_result();
    for (experiment_result& each : found.experiments) {
        each.primary = {{"*", "*"}};
        for (contestant_result& who : each.contestants) who.name += " |*_`<";
    }
    std::istringstream lines(markdown_tables(found));
    std::size_t cells = 0, rows = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('|')) {
            cells = 0;
            continue;
        }
        if (cells == 0) cells = cells_of(line);
        EXPECT_EQ(cells_of(line), cells) << line;
        EXPECT_LE(cells, 9u) << line;
        ++rows;
    }
    EXPECT_GT(rows, 20u);
}

TEST(markdown, figures_with_other_rounds_are_said_to_have_them) {
    result found = fixture::small_result();
    experiment_result& one = found.experiments.front();
    one.rounds = 7;
    for (metric& each : one.contestants[0].metrics) each.samples.resize(7, 9.0);
    for (contestant_result& who : one.contestants) {
        std::erase_if(who.metrics, [](const metric& each) { return each.name == "free"; });
    }
    one.contestants[0].metrics[1].samples.resize(3);
    EXPECT_TRUE(holds(markdown_provenance(found, one), "Medians of 7 rounds (3 rounds for: cold); "));
    EXPECT_TRUE(holds(text_tables(found, {200}), "7 rounds (3 rounds for: cold), --count 5"));
    EXPECT_EQ(doubt_of(one), "Too few rounds to name a best choice: 3 rounds for: cold.");
}

TEST(markdown, no_field_of_a_result_can_make_a_link_or_leave_its_code) {
    result found = fixture::small_result();
    found.command = "tenure `x` ``y`` ![a](b)";
    found.machine.commit = "![a](b)&lt;";
    found.started_at = "[a](b)&<i>";
    const std::string text = markdown_provenance(found, found.experiments.front());
    EXPECT_TRUE(holds(text, "Command: ``` tenure `x` ``y`` ![a](b) ```.")) << text;
    EXPECT_TRUE(holds(text, R"(commit \!\[a\](b)\&lt;, \[a\](b)\&\<i\>.)")) << text;
}

TEST(markdown, provenance_is_what_the_result_says_of_itself) {
    result found = fixture::small_result();
    found.machine.commit = "feedbeef0123";
    const std::string text = markdown_provenance(found, found.experiments.front());
    EXPECT_TRUE(holds(text, "commit feedbeef0123"));
    EXPECT_TRUE(holds(text, found.started_at.substr(0, 10)));
    EXPECT_TRUE(holds(text, "`" + found.command + "`"));
    EXPECT_TRUE(holds(text, "Medians of 3 rounds"));
}

}

}
