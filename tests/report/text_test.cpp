// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/table/text.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/letters.hpp"
#include "report/snapshot.hpp"
#include "report/table/text_grid.hpp"
#include "support/holds.hpp"

namespace tenure::lab {

namespace {

using support::holds;

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        widest = std::max(widest, columns_of(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return widest;
}

TEST(text, the_tables_are_as_they_were) {
    expect_snapshot("tables.txt", text_tables(fixture::small_result(), {100, colour::plain}));
}

TEST(text, the_tables_of_a_narrow_terminal_are_as_they_were) {
    expect_snapshot("tables_narrow.txt", text_tables(fixture::small_result(), {50, colour::plain}));
}

TEST(text, colours_are_as_they_were) {
    expect_snapshot("tables_colour.txt", text_tables(fixture::small_result(), {80, colour::ansi}));
}

TEST(text, who_was_left_out_stands_with_the_reason) {
    const std::string text = text_tables(fixture::small_result(), {200, colour::plain});
    EXPECT_TRUE(holds(text, "LEFT OUT trivial bump of \"two threads, <4> B\", \"overflow\": it is one thread's"));
}

TEST(text, no_line_passes_the_width) {
    for (const result& found : {fixture::small_result(), fixture::plausible_result()}) {
        for (std::size_t width = 40; width <= 200; width += 8) {
            EXPECT_LE(widest_line(text_tables(found, {width, colour::plain})), width);
        }
    }
}

TEST(text, colour_changes_nothing_but_the_colour) {
    const std::string coloured = text_tables(fixture::plausible_result(), {100, colour::ansi});
    std::string plain;
    for (std::size_t place = 0; place < coloured.size(); ++place) {
        if (coloured[place] == '\x1b') {
            place = coloured.find('m', place);
        } else {
            plain += coloured[place];
        }
    }
    EXPECT_EQ(plain, text_tables(fixture::plausible_result(), {100, colour::plain}));
}

TEST(text, who_is_missing_or_failed_is_named_with_the_reason) {
    const std::string text = text_tables(fixture::small_result());
    EXPECT_TRUE(holds(text, "MISSING HPHA: no package has it"));
    EXPECT_TRUE(holds(text, "FAILED libevil, <b>\"x\"</b>: a block did not hold what was written"));
}

TEST(text, every_table_of_an_unoptimised_build_is_marked) {
    result found = fixture::plausible_result();
    const std::string plain = text_tables(found);
    EXPECT_FALSE(holds(plain, "[unoptimised build]"));
    found.machine.flags = "-O0";
    const std::string text = text_tables(found);
    std::size_t marks = 0;
    for (std::size_t at = text.find("[unoptimised build]"); at != std::string::npos;
         at = text.find("[unoptimised build]", at + 1)) {
        ++marks;
    }
    std::size_t tables = 0;
    for (const std::string_view title : {" · times", " · memory", " · further figures", " · distance", " · rank"}) {
        for (std::size_t at = text.find(title); at != std::string::npos; at = text.find(title, at + 1)) ++tables;
    }
    EXPECT_EQ(marks, tables);
    EXPECT_GE(marks, 10U);
}

TEST(text, an_interrupted_result_says_so) {
    result found = fixture::small_result();
    EXPECT_FALSE(holds(text_tables(found), "Interrupted"));
    found.complete = false;
    EXPECT_TRUE(holds(text_tables(found), "Interrupted: only the finished measurements are included."));
}

TEST(text, without_the_baseline_there_is_no_ratio_column_and_a_sentence_why) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].state = outcome::missing;
    const std::string text = text_tables(found.experiments[0], found.machine);
    EXPECT_FALSE(holds(text, "×"));
    EXPECT_TRUE(holds(text, "because the"));
}

TEST(text, a_result_without_experiments_is_empty) { EXPECT_EQ(text_tables(result{}), ""); }

TEST(text_grid, columns_align_by_letters_and_not_by_bytes) {
    text_grid grid;
    grid.head({"name", "ratio"});
    grid.add({{"é"}, {"×1"}});
    grid.add({{"long"}, {"×10"}});
    EXPECT_EQ(grid.str(colour::plain), "name  ratio\n"
                                       "é        ×1\n"
                                       "long    ×10\n");
}

TEST(text_grid, a_wide_group_title_widens_its_columns) {
    text_grid grid;
    grid.group("", 1);
    grid.group("alloc, ns/op", 2);
    grid.head({"x", "a", "b"});
    grid.add({{"y"}, {"1"}, {"2"}});
    EXPECT_EQ(grid.str(colour::plain), "   alloc, ns/op\n"
                                       "x          a  b\n"
                                       "y          1  2\n");
    EXPECT_EQ(grid.width(), 15U);
}

TEST(letters, clipping_counts_letters) {
    EXPECT_EQ(clipped("größe", 5), "größe");
    EXPECT_EQ(clipped("größer", 5), "größ…");
    EXPECT_EQ(clipped("ab", 0), "…");
}

TEST(letters, lines_break_at_blanks_and_keep_their_indent) {
    EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
    EXPECT_EQ(wrapped("unbreakably", 4), "unbreakably");
    EXPECT_EQ(wrapped("", 4), "");
}

result with_rounds(std::size_t rounds) {
    result found = fixture::small_result();
    for (experiment_result& experiment : found.experiments) {
        experiment.rounds = static_cast<std::uint32_t>(rounds);
        for (contestant_result& who : experiment.contestants) {
            for (metric& measured : who.metrics) measured.samples.resize(rounds);
        }
    }
    return found;
}

TEST(text, one_round_has_no_spread_and_is_said_to_say_little) {
    const std::string one = text_tables(with_rounds(1), {200});
    EXPECT_TRUE(holds(one, "1 round says little"));
    EXPECT_TRUE(holds(text_tables(with_rounds(4), {200}), "4 rounds say little"));
    EXPECT_FALSE(holds(text_tables(with_rounds(5), {200}), " little: "));
    EXPECT_FALSE(holds(one, "8.00–8.00"));
    EXPECT_TRUE(holds(to_html(with_rounds(1)), "1 round says little"));
}

TEST(text, a_rank_with_nobody_in_it_is_not_printed) {
    result found = fixture::small_result();
    ASSERT_TRUE(holds(text_tables(found), "lifetimes · rank"));
    ASSERT_TRUE(holds(to_html(found), "#e1-rank"));
    found.experiments[0].baseline = "nobody";
    EXPECT_FALSE(holds(text_tables(found), "lifetimes · rank"));
    EXPECT_FALSE(holds(to_html(found), "e1-rank"));
}

TEST(text, whoever_reads_the_same_as_the_best_choice_is_marked_as_well) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].metrics[2].samples.assign(5, 3.501);
    found.experiments[0].contestants[1].metrics[2].samples.assign(5, 3.5);
    const std::string text = text_tables(found, {200});
    std::size_t marked = 0;
    for (std::size_t at = text.find("3.50*"); at != std::string::npos; at = text.find("3.50*", at + 1)) ++marked;
    EXPECT_EQ(marked, 2U) << text;
}

TEST(text, the_conclusions_stand_at_the_end_for_each_experiment) {
    const std::string text = text_tables(fixture::small_result(), {200});
    const std::size_t place = text.find("In short");
    ASSERT_NE(place, std::string::npos);
    const std::string end = text.substr(place);
    EXPECT_TRUE(holds(end, "lifetimes\n"));
    EXPECT_TRUE(holds(end, "through/put\n"));
    EXPECT_TRUE(holds(end, "Most often the best choice: tenure temp"));
    EXPECT_TRUE(holds(end, "the best of ours leads in"));
}

}

}
