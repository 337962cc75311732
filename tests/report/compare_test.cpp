// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/compare.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/result/summarized.hpp"
#include "report/snapshot.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

namespace {

std::vector<double>& samples_of(result& found, std::size_t contestant, std::size_t metric) {
    return found.experiments[0].contestants[contestant].metrics[metric].samples;
}

void scale(result& found, double factor) {
    for (experiment_result& experiment : found.experiments) {
        for (contestant_result& who : experiment.contestants) {
            for (metric& measured : who.metrics) {
                if (!measured.unit.starts_with("ns")) continue;
                for (double& sample : measured.samples) sample *= factor;
            }
        }
    }
}

/// The fixture has three rounds, too few for a verdict: each counts three times.
result longer(result found) {
    for (experiment_result& experiment : found.experiments) {
        for (contestant_result& who : experiment.contestants) {
            for (metric& measured : who.metrics) {
                const std::vector<double> once = measured.samples;
                for (int more = 0; more < 2; ++more) {
                    measured.samples.insert(measured.samples.end(), once.begin(), once.end());
                }
            }
        }
    }
    return found;
}

comparison compared(const result& before, const result& after) { return compare(longer(before), longer(after)); }

const compared_metric& row(const comparison& found, std::string_view contestant, std::string_view metric,
                           std::string_view variant) {
    static const compared_metric none{};
    const auto place = std::find_if(found.rows.begin(), found.rows.end(), [&](const compared_metric& one) {
        return one.contestant == contestant && one.metric == metric && one.variant == variant;
    });
    EXPECT_NE(place, found.rows.end()) << contestant << ' ' << metric << ' ' << variant;
    return place == found.rows.end() ? none : *place;
}

bool mentions(const std::vector<std::string>& lines, std::string_view words) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST(compare, a_result_compared_with_itself_is_the_same) {
    const comparison found = compare(fixture::plausible_result(), fixture::plausible_result());
    EXPECT_EQ(found.count(change::same) + found.count(change::not_comparable), found.rows.size());
    EXPECT_GT(found.count(change::same), found.count(change::not_comparable));
    EXPECT_TRUE(found.warnings.empty());
    EXPECT_TRUE(found.only_before.empty());
    EXPECT_TRUE(found.only_after.empty());
}

TEST(compare, a_figure_that_stands_twice_on_a_side_is_named_and_not_compared) {
    result twice = fixture::small_result();
    std::vector<metric>& metrics = twice.experiments[0].contestants[1].metrics;
    metrics.push_back(metrics[0]);
    metrics.back().samples = {20.0, 25.0, 22.0};
    const std::string path = "lifetimes / tenure temp / warm / alloc (2 times in the ";
    const auto is_compared = [](const comparison& found) {
        return std::any_of(found.rows.begin(), found.rows.end(), [](const compared_metric& one) {
            return one.contestant == "tenure temp" && one.metric == "alloc" && one.variant == "warm";
        });
    };
    const comparison old_side = compared(twice, fixture::small_result());
    EXPECT_EQ(old_side.ambiguous, std::vector<std::string>{path + "old result)"});
    EXPECT_FALSE(is_compared(old_side));
    EXPECT_TRUE(old_side.only_after.empty()) << "it is in both";
    const comparison new_side = compared(fixture::small_result(), twice);
    EXPECT_EQ(new_side.ambiguous, std::vector<std::string>{path + "new result)"});
    EXPECT_FALSE(is_compared(new_side));
    EXPECT_NE(text_tables(new_side, {200}).find(path), std::string::npos);
    EXPECT_NE(to_json(new_side).find(path), std::string::npos);
    EXPECT_TRUE(compared(fixture::small_result(), fixture::small_result()).ambiguous.empty());
}

TEST(compare, a_figure_below_zero_has_no_factor) {
    result before = fixture::small_result();
    samples_of(before, 1, 0) = {-2.0, -2.5, -2.2};
    const comparison found = compared(before, fixture::small_result());
    const compared_metric& changed = row(found, "tenure temp", "alloc", "warm");
    EXPECT_TRUE(std::isnan(changed.factor()));
    EXPECT_EQ(changed.verdict, change::not_comparable) << "it took less than nothing before";
    EXPECT_TRUE(std::isnan(changed.ratio_before.median));
}

TEST(compare, a_slower_machine_makes_nobody_worse) {
    result after = fixture::plausible_result();
    scale(after, 1.7);
    const comparison found = compare(fixture::plausible_result(), after);
    EXPECT_EQ(found.count(change::worse), 0U);
    EXPECT_EQ(found.count(change::better), 0U);
    EXPECT_GT(found.count(change::drifted), 50U);
}

TEST(compare, who_got_slower_against_the_baseline_is_worse) {
    result after = fixture::small_result();
    samples_of(after, 1, 0) = {4.0, 5.0, 4.5};
    const comparison found = compared(fixture::small_result(), after);
    EXPECT_EQ(row(found, "tenure temp", "alloc", "warm").verdict, change::worse);
    EXPECT_EQ(found.count(change::worse), 1U);
}

TEST(compare, who_got_faster_on_a_machine_that_got_slower_is_better) {
    result after = fixture::small_result();
    scale(after, 2.0);
    samples_of(after, 1, 2) = {4.0, 3.0, 3.5}; // as fast as before, against a baseline of half the speed
    const comparison found = compared(fixture::small_result(), after);
    EXPECT_EQ(row(found, "tenure temp", "alloc", "cold").verdict, change::better);
}

TEST(compare, the_baseline_itself_can_only_drift) {
    result after = fixture::small_result();
    samples_of(after, 0, 0) = {80.0, 100.0, 90.0};
    EXPECT_EQ(row(compared(fixture::small_result(), after), "glibc malloc", "alloc", "warm").verdict, change::drifted);
}

TEST(compare, memory_is_judged_as_it_is) {
    result after = fixture::small_result();
    samples_of(after, 0, 3) = {8.0, 8.0, 8.0};
    EXPECT_EQ(row(compared(fixture::small_result(), after), "glibc malloc", "peak", "").verdict, change::worse);
}

TEST(compare, a_change_within_the_spread_does_not_count) {
    result after = fixture::small_result();
    samples_of(after, 1, 2) = {4.2, 3.1, 3.6};
    EXPECT_EQ(row(compared(fixture::small_result(), after), "tenure temp", "alloc", "cold").verdict, change::same);
}

TEST(compare, a_change_of_a_tenth_or_less_does_not_count) {
    result after = fixture::small_result();
    samples_of(after, 0, 3) = {4.3, 4.3, 4.3};
    EXPECT_EQ(row(compared(fixture::small_result(), after), "glibc malloc", "peak", "").verdict, change::same);
}

TEST(compare, a_fact_moves_and_is_neither_better_nor_worse) {
    result after = fixture::small_result();
    samples_of(after, 1, 3) = {4.0, 4.0, 4.0};
    EXPECT_EQ(row(compared(fixture::small_result(), after), "tenure temp", "overflow index", "cold").verdict,
              change::moved);
}

TEST(compare, a_time_without_a_ratio_has_no_verdict) {
    result before = fixture::small_result();
    before.experiments[0].contestants[1].metrics.push_back({"reset", "warm", "ns", better::smaller, {5.0, 5.1, 5.2}});
    result after = before;
    after.experiments[0].contestants[1].metrics.back().samples = {15.0, 15.1, 15.2};
    const comparison found = compared(before, after);
    EXPECT_EQ(row(found, "tenure temp", "reset", "warm").verdict, change::not_comparable);
    EXPECT_NE(text_tables(found, {400}).find("1 not comparable: no baseline in the same"), std::string::npos);
    before.experiments[0].baseline = after.experiments[0].baseline = "nobody";
    samples_of(after, 1, 2) = {40.0, 30.0, 35.0};
    EXPECT_EQ(row(compared(before, after), "tenure temp", "alloc", "cold").verdict, change::not_comparable);
}

TEST(compare, fewer_than_five_rounds_on_either_side_give_no_verdict) {
    result after = fixture::small_result();
    samples_of(after, 1, 0) = {40.0, 50.0, 45.0};
    after.experiments.resize(1); // the other has five rounds
    const comparison found = compare(longer(fixture::small_result()), after);
    EXPECT_EQ(found.count(change::too_few), found.rows.size());
    EXPECT_NE(text_tables(found, {400}).find("fewer than 5 rounds in one result"), std::string::npos);
}

TEST(compare, the_output_says_what_counts_as_a_change) {
    const std::string text = text_tables(compared(fixture::small_result(), fixture::small_result()), {400});
    EXPECT_NE(text.find("of the other) and the medians differ by more than 10 %"), std::string::npos) << text;
}

TEST(compare, another_seed_is_no_difference_and_only_options_that_differ_are_named) {
    result before = fixture::small_result(), after = fixture::small_result();
    before.experiments[0].parameters.push_back({"--seed", "1"});
    after.experiments[0].parameters.push_back({"--seed", "2"});
    EXPECT_TRUE(compare(before, after).warnings.empty());
    after.experiments[0].parameters.push_back({"environment", "MALLOC_ARENA_MAX=1"});
    EXPECT_EQ(compare(before, after).warnings,
              std::vector<std::string>{"lifetimes environment: not given / MALLOC_ARENA_MAX=1"});
}

TEST(compare, larger_operations_per_second_are_better) {
    result after = fixture::small_result();
    after.experiments[1].contestants[1].metrics[0].samples = {240.0, 220.0, 260.0};
    EXPECT_EQ(row(compared(fixture::small_result(), after), "tenure temp", "operations", "").verdict, change::better);
}

TEST(compare, rows_of_one_result_only_are_named_with_the_reason) {
    result before = fixture::small_result();
    result after = fixture::small_result();
    before.experiments.pop_back();
    after.experiments[0].contestants[1].state = outcome::failed;
    after.experiments[0].contestants[1].reason = "killed by signal 11";
    after.experiments[0].contestants[0].metrics.pop_back();
    const comparison found = compared(before, after);
    EXPECT_EQ(found.only_after, std::vector<std::string>{"through/put"});
    EXPECT_TRUE(mentions(found.only_before, "lifetimes / tenure temp (failed in the other: killed by signal 11)"));
    EXPECT_TRUE(mentions(found.only_before, "lifetimes / glibc malloc / peak"));
}

TEST(compare, what_differs_besides_the_code_is_said) {
    result after = fixture::small_result();
    after.machine.cpu = "Another CPU";
    after.machine.flags = "-O0";
    after.experiments[0].parameters[0].value = "1000";
    after.experiments[0].contestants[0].version = "2.41";
    const comparison found = compared(fixture::small_result(), after);
    EXPECT_TRUE(mentions(found.warnings, "CPU: Example CPU @ 2.50GHz / Another CPU"));
    EXPECT_TRUE(mentions(found.warnings, "flags: -O2 -DNDEBUG / -O0"));
    EXPECT_TRUE(mentions(found.warnings, "lifetimes --count: 5 / 1000"));
    EXPECT_TRUE(mentions(found.warnings, "lifetimes, version of glibc malloc: 2.36 / 2.41"));
    EXPECT_NE(found.after_name.find("unoptimised build"), std::string::npos);
}

comparison example() {
    result after = fixture::small_result();
    after.started_at = "2026-11-22T08:00:00Z";
    after.machine.kernel = "6.12.0";
    scale(after, 1.5);
    samples_of(after, 1, 1) = {0.16, 0.16, 0.2};
    after.experiments.pop_back();
    return compared(fixture::small_result(), after);
}

TEST(compare, the_tables_are_as_they_were) {
    expect_snapshot("compare.txt", text_tables(example(), {100, colour::plain}));
}

TEST(compare, the_tables_fit_a_narrow_terminal) {
    expect_snapshot("compare_narrow.txt", text_tables(example(), {48, colour::plain}));
}

TEST(compare, a_summary_compared_with_its_own_rounds_is_the_same) {
    const result rounds = longer(fixture::plausible_result());
    for (const comparison& found : {compare(summarized(rounds), rounds), compare(rounds, summarized(rounds)),
                                    compare(summarized(rounds), summarized(rounds))}) {
        const comparison expected = compare(rounds, rounds);
        EXPECT_EQ(found.rows.size(), expected.rows.size());
        EXPECT_EQ(found.count(change::same), expected.count(change::same));
        EXPECT_EQ(found.count(change::not_comparable), expected.count(change::not_comparable));
        EXPECT_TRUE(found.warnings.empty());
        EXPECT_TRUE(found.only_before.empty());
        EXPECT_TRUE(found.only_after.empty());
    }
}

TEST(compare, a_change_against_a_summary_has_medians_and_ratios_and_no_verdict) {
    result after = fixture::small_result();
    samples_of(after, 1, 0) = {4.0, 5.0, 4.5};
    const result before = longer(fixture::small_result());
    const comparison with_rounds = compare(before, longer(after));
    ASSERT_EQ(row(with_rounds, "tenure temp", "alloc", "warm").verdict, change::worse);
    const comparison found = compare(summarized(before), longer(after));
    const compared_metric& changed = row(found, "tenure temp", "alloc", "warm");
    EXPECT_EQ(changed.verdict, change::not_available);
    EXPECT_DOUBLE_EQ(changed.before.median, 2.25);
    EXPECT_DOUBLE_EQ(changed.after.median, 4.5);
    EXPECT_DOUBLE_EQ(changed.ratio_before.median, 0.25);
    EXPECT_DOUBLE_EQ(changed.factor(), 2.0);
    EXPECT_EQ(row(found, "tenure temp", "free", "warm").verdict, change::same)
        << "medians within a tenth need no rounds";
    EXPECT_EQ(found.count(change::not_available), 1U);
    const std::string text = text_tables(found, {200});
    EXPECT_NE(text.find("summary without rounds"), std::string::npos) << text;
    EXPECT_NE(text.find("? alloc, warm"), std::string::npos) << text;
    EXPECT_NE(text.find("not available"), std::string::npos) << text;
    EXPECT_NE(text.find("1 without a verdict: a summary file has no rounds"), std::string::npos) << text;
    EXPECT_NE(to_json(found).find("\"verdict\": \"not available\""), std::string::npos);
}

TEST(compare, a_slower_machine_is_not_told_from_a_change_without_the_rounds) {
    result after = fixture::plausible_result();
    scale(after, 1.7);
    const comparison found = compare(summarized(fixture::plausible_result()), after);
    EXPECT_EQ(found.count(change::worse) + found.count(change::better) + found.count(change::drifted), 0U);
    EXPECT_GT(found.count(change::not_available), 50U);
}

TEST(compare, too_few_rounds_of_a_summary_are_still_too_few) {
    const comparison found = compare(summarized(fixture::small_result()), longer(fixture::small_result()));
    EXPECT_EQ(row(found, "tenure temp", "alloc", "warm").verdict, change::too_few);
}

TEST(compare, the_json_is_as_it_was) { expect_snapshot("compare.json", to_json(example())); }

}

}
