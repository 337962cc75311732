// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/judge.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/signed_rank.hpp"
#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

namespace {

using fixture::ours;
using fixture::peer;

struct entry {
    const char* name;
    contestant_role role;
    std::vector<double> samples;
};

experiment_result race(const std::vector<entry>& entries, better sense = better::smaller) {
    experiment_result made;
    made.name = "race";
    made.rounds = static_cast<std::uint32_t>(entries.front().samples.size());
    for (const entry& one : entries) {
        contestant_result who;
        who.name = one.name;
        who.role = one.role;
        who.metrics = {{"alloc", "", "ns/op", sense, one.samples}};
        made.contestants.push_back(who);
    }
    return made;
}

std::vector<std::string> best_names(const experiment_result& found) {
    const layout laid = lay_out(found);
    std::vector<std::string> names;
    for (const std::size_t row : best_choices(laid.whole, 0)) names.push_back(laid.whole.rows[row].who->name);
    return names;
}

standing standing_of(const experiment_result& found) { return verdicts_of(lay_out(found).whole).front().stands; }

std::vector<double> steady(double value) { return std::vector<double>(7, value); }

using names = std::vector<std::string>;

/// The machine changed speed: ours has the lower median, and the peer was faster in five rounds of seven.
experiment_result drifting_machine() {
    return race(
        {{"tenure", ours, {44, 40, 41, 44, 100, 101, 102}}, {"mimalloc", peer, {62, 70, 39, 42, 60.7, 60, 61}}});
}

TEST(judge, the_best_is_whoever_is_faster_in_the_same_rounds_and_not_who_has_the_lower_median) {
    const experiment_result found = drifting_machine();
    const layout laid = lay_out(found);
    ASSERT_LT(laid.whole.rows[0].cells[0].value.median, laid.whole.rows[1].cells[0].value.median);
    EXPECT_EQ(best_names(found), (names{"tenure", "mimalloc"})) << "the rounds disagree";
    EXPECT_EQ(standing_of(found), standing::level);
    experiment_result clear = found;
    clear.contestants[1].metrics[0].samples = {43, 39, 39, 42, 60.7, 60, 61};
    ASSERT_LT(lay_out(clear).whole.rows[0].cells[0].value.median, 60);
    EXPECT_EQ(best_names(clear), names{"mimalloc"});
    EXPECT_EQ(standing_of(clear), standing::trails);
}

TEST(judge, tables_mark_whom_the_conclusion_calls_a_leader) {
    result found;
    found.experiments = {drifting_machine()};
    found.experiments[0].contestants[1].metrics[0].samples = {43, 39, 39, 42, 60.7, 60, 61};
    const std::string text = text_tables(found, {200});
    EXPECT_NE(text.find("43.0*"), std::string::npos) << text;
    EXPECT_EQ(text.find("44.0*"), std::string::npos) << text;
    EXPECT_NE(to_html(found).find("best\"><b>43.0</b>"), std::string::npos);
    EXPECT_EQ(to_html(found).find("<b>44.0</b>"), std::string::npos);
}

TEST(judge, whoever_is_level_with_the_best_is_named_as_well) {
    EXPECT_EQ(best_names(race({{"a", peer, steady(10)}, {"b", peer, steady(10.15)}, {"c", peer, steady(11)}})),
              (names{"a", "b"}))
        << "less than 2 % is no lead";
    EXPECT_EQ(
        best_names(race({{"a", peer, steady(10)}, {"b", peer, {9, 11, 12, 9, 8, 11, 12}}, {"c", peer, steady(20)}})),
        (names{"a", "b"}))
        << "the rounds disagree";
}

TEST(judge, a_reference_is_no_choice_and_of_one_choice_none_is_best) {
    EXPECT_EQ(best_names(race(
                  {{"a", peer, steady(10)}, {"b", peer, steady(20)}, {"bare", contestant_role::reference, steady(1)}})),
              names{"a"});
    EXPECT_TRUE(best_names(race({{"a", peer, steady(10)}, {"bare", contestant_role::reference, steady(1)}})).empty());
    const experiment_result fact = race({{"a", peer, steady(1)}, {"b", peer, steady(2)}}, better::neither);
    EXPECT_TRUE(best_choices(lay_out(fact).told.front(), 0).empty());
}

TEST(judge, where_larger_is_better_the_largest_is_best) {
    const experiment_result found =
        race({{"tenure", ours, {120, 110, 130, 120, 120}}, {"b", peer, {60, 50, 70, 60, 60}}}, better::larger);
    EXPECT_EQ(best_names(found), names{"tenure"});
    const verdict one = verdicts_of(lay_out(found).whole).front();
    EXPECT_EQ(one.stands, standing::leads);
    EXPECT_DOUBLE_EQ(one.against.median, 0.5);
}

TEST(judge, figures_that_are_not_above_zero_are_judged_by_their_differences) {
    const experiment_result none_left = race({{"tenure", ours, steady(5)}, {"b", peer, steady(0)}});
    EXPECT_EQ(best_names(none_left), names{"b"});
    EXPECT_EQ(standing_of(none_left), standing::trails);
    EXPECT_EQ(verdicts_of(lay_out(none_left).whole).front().against.count, 0U) << "there is no ratio to zero";
    EXPECT_EQ(standing_of(race({{"tenure", ours, {-1, -2, -1, -1, -2}}, {"b", peer, {3, 3, 3, 3, 3}}})),
              standing::leads);
    EXPECT_EQ(standing_of(race({{"tenure", ours, steady(0)}, {"b", peer, steady(0)}})), standing::level);
}

TEST(judge, who_shares_no_round_with_another_is_not_judged) {
    const double lost = std::numeric_limits<double>::quiet_NaN();
    const experiment_result found = race({{"tenure", ours, {1, lost, lost}}, {"b", peer, {lost, 2, 2}}});
    EXPECT_EQ(standing_of(found), standing::none);
}

TEST(judge, a_circle_still_has_one_best) {
    // Each leads the next in four rounds of five, and the last leads the first; a hundred rounds tell.
    std::vector<entry> entries{{"a", peer, {}}, {"b", peer, {}}, {"c", peer, {}}, {"d", peer, {}}, {"e", peer, {}}};
    for (std::size_t round = 0; round < 100; ++round) {
        for (std::size_t place = 0; place < 5; ++place) {
            entries[(place + round) % 5].samples.push_back(std::pow(1.1, static_cast<double>(place)));
        }
    }
    const experiment_result found = race(entries);
    const table whole = lay_out(found).whole;
    for (std::size_t row = 0; row < 5; ++row) {
        ASSERT_EQ(match_of(whole, 0, row, (row + 1) % 5).stands, standing::leads) << row;
    }
    EXPECT_EQ(best_names(found).size(), 1U);
}

/// Factors of a machine's noise, fixed: as far below 1 as above.
double noise_of(std::size_t round, std::size_t who) {
    std::uint64_t bits = (round * 7919 + who * 104729 + 12345) * 0x9E3779B97F4A7C15ULL;
    bits = (bits ^ (bits >> 29U)) * 0xBF58476D1CE4E5B9ULL;
    bits ^= bits >> 32U;
    return std::exp(0.2 * (static_cast<double>(bits % 100'000) / 100'000 - 0.5));
}

TEST(judge, equal_contestants_with_noise_are_told_apart_as_seldom_as_the_test_says) {
    std::size_t apart = 0;
    constexpr std::size_t pairs = 400;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        std::vector<double> left;
        std::vector<double> right;
        for (std::size_t round = 0; round < 7; ++round) {
            left.push_back(10 * noise_of(round + 7 * pair, 0));
            right.push_back(10 * noise_of(round + 7 * pair, 1));
        }
        const standing found = standing_of(race({{"tenure", ours, left}, {"b", peer, right}}));
        apart += found == standing::level ? 0U : 1U;
    }
    EXPECT_LE(apart, pairs * 8 / 100) << "4.7 % are expected";
    EXPECT_GE(apart, 1U);
}

TEST(judge, one_disturbed_round_takes_no_lead_and_makes_none) {
    EXPECT_EQ(standing_of(race(
                  {{"tenure", ours, {9, 9.1, 9, 9.2, 9, 9.1, 9}}, {"b", peer, {10, 10.2, 10, 10.1, 10, 10.3, 1}}})),
              standing::level)
        << "the disturbed round ranks last of seven: 7 of at most 2";
    EXPECT_EQ(standing_of(race({{"tenure", ours, {9, 9.1, 9, 9.2, 9, 9.1, 9, 9, 9, 9}},
                                {"b", peer, {10, 10.2, 10, 10.1, 10, 10.3, 9.8, 10, 10, 8.99}}})),
              standing::leads);
    EXPECT_EQ(standing_of(race({{"tenure", ours, {10, 10, 10, 10, 10, 10, 90}}, {"b", peer, steady(10)}})),
              standing::level);
}

TEST(judge, three_rounds_call_nobody_the_best) {
    const experiment_result found = race({{"tenure", ours, {5, 5, 5}}, {"b", peer, {50, 50, 50}}});
    EXPECT_EQ(standing_of(found), standing::none);
    EXPECT_TRUE(best_names(found).empty());
    EXPECT_DOUBLE_EQ(verdicts_of(lay_out(found).whole).front().against.median, 0.1) << "the ratio is still told";
}

TEST(judge, the_rounds_of_the_figure_count_and_not_those_of_the_experiment) {
    experiment_result found = race({{"tenure", ours, {5, 5, 5, 5}}, {"b", peer, {50, 50, 50, 50}}});
    found.rounds = 7;
    EXPECT_EQ(standing_of(found), standing::none);
    found.contestants[0].metrics[0].samples.push_back(5);
    found.contestants[1].metrics[0].samples.push_back(50);
    found.rounds = 1;
    EXPECT_EQ(standing_of(found), standing::leads);
}

TEST(judge, one_round_of_zero_does_not_take_the_ratio_of_the_figure) {
    const experiment_result found = race({{"tenure", ours, steady(5)}, {"b", peer, {2, 2, 0, 2, 2, 2, 2}}});
    const verdict one = verdicts_of(lay_out(found).whole).front();
    EXPECT_EQ(one.stands, standing::trails);
    EXPECT_DOUBLE_EQ(one.against.median, 2.5);
    EXPECT_EQ(one.against.count, 6U);
    const verdict few =
        verdicts_of(lay_out(race({{"tenure", ours, steady(5)}, {"b", peer, {2, 0, 0, 0, 2, 2, 2}}})).whole).front();
    EXPECT_EQ(few.stands, standing::trails);
    EXPECT_EQ(few.against.count, 0U) << "four ratios are too few: the differences decide";
}

TEST(judge, a_checked_form_of_ours_is_shown_and_neither_the_best_of_ours_nor_a_choice) {
    const experiment_result found = race({{"tenure hardened", contestant_role::checked, steady(1)},
                                          {"tenure", ours, steady(12)},
                                          {"b", peer, steady(10)}});
    const layout laid = lay_out(found);
    EXPECT_EQ(laid.whole.rows[0].part, role::checked);
    EXPECT_EQ(best_names(found), names{"b"});
    const verdict one = verdicts_of(laid.whole).front();
    EXPECT_EQ(one.ours, 1U);
    EXPECT_EQ(one.stands, standing::trails);
    result whole;
    whole.experiments = {found};
    EXPECT_NE(text_tables(whole, {200}).find("+ tenure hardened"), std::string::npos);
    EXPECT_NE(to_html(whole).find("ours with checks, not a choice"), std::string::npos);
}

TEST(signed_rank, the_critical_values_are_those_of_the_table) {
    // All but the smallest k differences are positive: the sum of the others is k (k + 1) / 2.
    const auto found = [](std::size_t count, std::size_t negative) {
        std::vector<double> differences;
        for (std::size_t rank = 1; rank <= count; ++rank) {
            differences.push_back(rank <= negative ? -static_cast<double>(rank) : static_cast<double>(rank));
        }
        return side_of_zero(differences);
    };
    EXPECT_EQ(found(4, 0), side::neither);
    EXPECT_EQ(found(5, 0), side::above);
    EXPECT_EQ(found(5, 1), side::neither);
    EXPECT_EQ(found(7, 1), side::above);
    EXPECT_EQ(found(7, 2), side::neither);
    EXPECT_EQ(found(20, 9), side::above);
    EXPECT_EQ(found(20, 10), side::neither);
    EXPECT_EQ(found(40, 22), side::above) << "253 of at most 264";
    EXPECT_EQ(found(40, 23), side::neither) << "276";
    EXPECT_EQ(side_of_zero(std::vector<double>{0, 0, -1, -2, -3, -4, -5}), side::below) << "zeros are left out";
}

}

}
