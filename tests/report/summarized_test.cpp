// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/summarized.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/judge.hpp"
#include "report/analysis/layout.hpp"
#include "report/analysis/metric_value.hpp"
#include "report/analysis/standings.hpp"
#include "report/chart/experiment_chart.hpp"
#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/json/json.hpp"
#include "report/numbers.hpp"
#include "report/result/csv.hpp"
#include "report/table/markdown.hpp"
#include "report/table/text.hpp"
#include "support/process.hpp"

namespace tenure::lab {

namespace {

/// Everything that `tenure report` can print.
std::string tables_of(const result& found) {
    std::string text;
    for (const std::size_t width : {40U, 100U, 200U}) text += text_tables(found, {width});
    return text + markdown_tables(found) + markdown_distance(found) + markdown_trailing(found);
}

/// Compares line by line: the texts have hundreds of lines.
void expect_same(const std::string& found, const std::string& expected) {
    std::istringstream found_lines(found);
    std::istringstream expected_lines(expected);
    std::string line;
    std::string wanted;
    for (int number = 1; std::getline(expected_lines, wanted); ++number) {
        ASSERT_TRUE(std::getline(found_lines, line)) << "ends before line " << number << ": " << wanted;
        ASSERT_EQ(line, wanted) << "line " << number;
    }
    EXPECT_FALSE(std::getline(found_lines, line)) << line;
}

/// Through the file, as a reader gets it.
result reread(const result& found) {
    const loaded_result loaded = parse_json(to_json(found));
    EXPECT_TRUE(loaded.ok()) << loaded.error;
    return loaded.value;
}

/// Draws results with everything that a table minds: few rounds, failed rounds, zeros, numbers below zero, equal
/// rounds, infinities, absent contestants, figures that only some have.
class drawer {
public:
    explicit drawer(std::uint32_t seed) : bits_(seed) {}

    result draw() {
        result made;
        made.command = "tenure bench";
        made.machine.build_type = "Release";
        const int experiments = 1 + below(3);
        for (int index = 0; index < experiments; ++index) made.experiments.push_back(experiment(index));
        return made;
    }

private:
    int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(bits_); }

    double sample(double centre) {
        switch (below(40)) {
        case 0: return std::numeric_limits<double>::quiet_NaN();
        case 1: return 0.0;
        case 2: return below(3) == 0 ? -centre : centre;
        case 3: return below(9) == 0 ? std::numeric_limits<double>::infinity() : centre;
        default: return centre * std::uniform_real_distribution<double>(0.97, 1.05)(bits_);
        }
    }

    std::vector<double> samples(int rounds) {
        static constexpr double magnitudes[]{0.0004, 0.0123, 0.9996, 7.99961, 12.04, 99.96, 1234.5, 45'678'901.0};
        const double centre = magnitudes[below(8)] * (below(3) == 0 ? 1.0 : 1.0 + 0.02 * below(10));
        std::vector<double> made;
        const bool is_fact = below(6) == 0;
        for (int round = 0; round < rounds; ++round) made.push_back(is_fact ? std::round(centre) : sample(centre));
        if (below(12) == 0) made.assign(made.size(), std::numeric_limits<double>::quiet_NaN());
        return made;
    }

    contestant_result contestant(const std::string& name, int rounds) {
        contestant_result made;
        made.name = name;
        made.kind = name == "bare" ? "reference (ours)" : "preload";
        made.role = static_cast<contestant_role>(below(4));
        if (name.starts_with("tenure") && below(3) != 0) made.role = contestant_role::ours;
        if (name.ends_with("malloc")) made.role = contestant_role::peer;
        made.version = below(2) == 0 ? "1.2" : "";
        made.proof = "a proof";
        if (below(12) == 0) made.state = below(2) == 0 ? outcome::missing : outcome::failed;
        if (made.state != outcome::measured) made.reason = "a reason";
        if (below(8) == 0) made.left_out = {{"a part", "too slow"}};
        for (const char* variant : {"warm", "cold", ""}) {
            for (int figure = 0; figure < 6; ++figure) {
                if (below(5) == 0) continue;
                static constexpr const char* names[]{"alloc", "free", "peak", "hits", "index", "rate"};
                static constexpr const char* units[]{"ns/op", "ns/op", "MiB", "", "", "GB/s"};
                static constexpr better senses[]{better::smaller, better::smaller, better::smaller,
                                                 better::neither, better::neither, better::larger};
                const int own = below(10) == 0 ? std::max(rounds - 2, 0) : rounds;
                made.metrics.push_back({names[figure], variant, units[figure], senses[figure], samples(own)});
            }
        }
        if (below(3) == 0) made.lists = {{"distances", "warm", "bytes", {0, 16, 16, -4096, 1LL << 47}}};
        return made;
    }

    experiment_result experiment(int number) {
        experiment_result made;
        made.name = number == 2 ? "vectors" : "experiment " + std::to_string(number);
        made.rounds = static_cast<std::uint32_t>(1 + below(9));
        made.baseline = "glibc malloc";
        for (const char* name :
             {"glibc malloc", "tenure", "tenure hardened", "tenure heap", "jemalloc", "mimalloc", "bare"}) {
            if (below(6) != 0) made.contestants.push_back(contestant(name, static_cast<int>(made.rounds)));
        }
        made.quotients = {{"heap/malloc", "tenure heap", "tenure"}, {"a/b", "jemalloc", "mimalloc"}};
        if (below(2) == 0) made.ranking_rule = "the geometric mean";
        if (below(6) == 0) made.ranking = {"jemalloc"};
        made.unranked = {"free"};
        made.primary = {{"alloc", "*"}, {"nowhere", "*"}, {"p*", "cold"}, {"hits", "*"}};
        return made;
    }

    std::mt19937 bits_;
};

TEST(summarized, every_table_is_the_same_as_from_the_rounds) {
    for (const result& found : {fixture::small_result(), fixture::plausible_result()}) {
        ASSERT_EQ(why_not_summarized(found), "");
        expect_same(tables_of(summarized(found)), tables_of(found));
        expect_same(tables_of(reread(summarized(found))), tables_of(found));
    }
}

TEST(summarized, every_table_of_drawn_results_is_the_same_too) {
    const std::uint32_t seeds = support::under_sanitizer() ? 8 : 100;
    for (std::uint32_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
        const result found = drawer(seed).draw();
        SCOPED_TRACE(seed);
        expect_same(tables_of(reread(summarized(found))), tables_of(found));
    }
}

TEST(summarized, medians_that_read_the_same_keep_their_order_within_a_figure) {
    result found = fixture::small_result();
    std::vector<contestant_result>& who = found.experiments[0].contestants;
    who[0].metrics[0].samples = {3.1402, 3.1402, 3.1402};
    who[1].metrics[0].samples = {3.1399, 3.1401, 3.1404};
    const result made = summarized(found);
    const auto value = [&](std::size_t index) { return value_of(made.experiments[0].contestants[index].metrics[0]); };
    EXPECT_LT(value(1).median, value(0).median);
    EXPECT_EQ(value(0).low, value(0).median);
    EXPECT_EQ(value(0).high, value(0).median);
    EXPECT_LE(value(1).low, value(1).median);
    EXPECT_GE(value(1).high, value(1).median);
    EXPECT_EQ(value_text(value(1).high), "3.14");
}

TEST(summarized, distances_that_read_the_same_keep_their_order) {
    result found;
    for (const double behind : {1.5001, 1.5003, 1.5002}) {
        experiment_result& one = found.experiments.emplace_back();
        one.name = fmt::format("{}", behind);
        one.rounds = 7;
        one.contestants.resize(2);
        one.contestants[0].name = "tenure";
        one.contestants[0].role = contestant_role::ours;
        one.contestants[1].name = "jemalloc";
        one.contestants[0].metrics = {{"alloc", "", "ns/op", better::smaller, std::vector<double>(7, behind)}};
        one.contestants[1].metrics = {{"alloc", "", "ns/op", better::smaller, std::vector<double>(7, 1.0)}};
    }
    const std::vector<trailing_figure> trails = standings_of(reread(summarized(found))).trails;
    ASSERT_EQ(trails.size(), 3U);
    EXPECT_EQ(trails[0].experiment + " " + trails[1].experiment + " " + trails[2].experiment, "1.5003 1.5002 1.5001");
}

TEST(summarized, no_round_is_left_and_no_text_that_only_the_page_shows) {
    const result found = summarized(fixture::small_result());
    EXPECT_TRUE(is_summary(found));
    EXPECT_FALSE(is_summary(fixture::small_result()));
    for (const experiment_result& experiment : found.experiments) {
        EXPECT_TRUE(experiment.unfair.empty());
        EXPECT_TRUE(experiment.properties.empty());
        for (const contestant_result& who : experiment.contestants) {
            EXPECT_EQ(who.proof + who.note, "");
            EXPECT_TRUE(who.lists.empty());
            for (const metric& one : who.metrics) EXPECT_TRUE(one.samples.empty()) << one.name;
        }
    }
}

TEST(summarized, machine_commit_and_command_are_kept) {
    const result found = fixture::small_result();
    const result back = reread(summarized(found));
    EXPECT_EQ(back.machine.cpu, found.machine.cpu);
    EXPECT_EQ(back.machine.commit, found.machine.commit);
    EXPECT_EQ(back.command, found.command);
    EXPECT_EQ(back.started_at, found.started_at);
    EXPECT_EQ(back.complete, found.complete);
    EXPECT_EQ(back.experiments[0].contestants[0].version, found.experiments[0].contestants[0].version);
}

TEST(summarized, a_value_has_its_median_spread_and_rounds_and_no_range) {
    result found = fixture::small_result();
    metric& measured = found.experiments[0].contestants[0].metrics[0];
    measured.samples = {1.23456, 1.3, 1.4, 1.5, 1.6};
    const result back = reread(summarized(found));
    const metric& one = back.experiments[0].contestants[0].metrics[0];
    const summary value = value_of(one);
    EXPECT_DOUBLE_EQ(value.median, 1.4);
    EXPECT_DOUBLE_EQ(value.low, 1.3);
    EXPECT_DOUBLE_EQ(value.high, 1.5);
    EXPECT_EQ(value.count, 5U);
    EXPECT_FALSE(has_range(value));
    EXPECT_TRUE(has_range(value_of(measured)));
    EXPECT_DOUBLE_EQ(ratio_of(one, one).median, 1.0) << "the baseline's own";
}

TEST(summarized, a_number_has_three_digits_or_as_many_as_a_table_shows) {
    result found = fixture::small_result();
    std::vector<metric>& metrics = found.experiments[0].contestants[0].metrics;
    metrics[0].samples = {9.87654};
    metrics[1].samples = {1'234'567.8};
    metrics[2].samples = {
        7.99961}; // three digits would make it the whole number 8, which tables of facts show without decimals
    const result made = summarized(found);
    const auto median = [&](std::size_t index) {
        return value_of(made.experiments[0].contestants[0].metrics[index]).median;
    };
    EXPECT_DOUBLE_EQ(median(0), 9.88);
    EXPECT_DOUBLE_EQ(median(1), 1'234'568.0);
    EXPECT_DOUBLE_EQ(median(2), 7.9996);
}

TEST(summarized, a_chart_has_the_same_words_in_the_same_order) {
    const auto words_of = [](const result& found) {
        const std::string picture = experiment_chart(found, found.experiments.at(0));
        std::string words;
        for (std::size_t at = picture.find('>'); at != std::string::npos; at = picture.find('>', at + 1)) {
            words += picture.substr(at + 1, picture.find('<', at) - at - 1) + "\n";
        }
        return words;
    };
    result found = fixture::plausible_result();
    found.experiments[0].primary = {{"*", "*"}};
    const std::string words = words_of(found);
    EXPECT_NE(words.find("tenure bench lifetimes"), std::string::npos);
    expect_same(words_of(reread(summarized(found))), words);
}

TEST(summarized, the_verdict_is_the_one_of_the_rounds) {
    const result found = fixture::plausible_result();
    const result back = reread(summarized(found));
    for (std::size_t index = 0; index < found.experiments.size(); ++index) {
        const layout from_rounds = lay_out(found.experiments[index]);
        const layout from_summary = lay_out(back.experiments[index]);
        const std::vector<verdict> expected = verdicts_of(from_rounds.whole);
        const std::vector<verdict> read = verdicts_of(from_summary.whole);
        ASSERT_EQ(read.size(), expected.size());
        for (std::size_t place = 0; place < read.size(); ++place) {
            EXPECT_EQ(read[place].best, expected[place].best);
            EXPECT_EQ(read[place].ours, expected[place].ours);
            EXPECT_EQ(read[place].other, expected[place].other);
            EXPECT_EQ(read[place].reference, expected[place].reference);
            EXPECT_EQ(read[place].stands, expected[place].stands);
        }
    }
}

TEST(summarized, no_other_pair_can_be_judged) {
    const result made = summarized(fixture::plausible_result());
    const layout laid = lay_out(made.experiments[0]);
    const match found = match_of(laid.whole, 0, 0, 1);
    EXPECT_EQ(found.stands, standing::none);
    EXPECT_EQ(found.ratio.count, 0U);
}

TEST(summarized, a_summary_remains_as_it_is) {
    const result once = summarized(fixture::plausible_result());
    EXPECT_EQ(to_json(summarized(once)), to_json(once));
}

TEST(summarized, what_cannot_be_told_apart_is_named) {
    result found = fixture::small_result();
    found.experiments[0].contestants[1].metrics.push_back(found.experiments[0].contestants[1].metrics[0]);
    EXPECT_EQ(why_not_summarized(found), "lifetimes / tenure temp has 1 figure more than once under one name");
    found = fixture::small_result();
    found.experiments[0].contestants[1].name = found.experiments[0].contestants[0].name;
    EXPECT_EQ(why_not_summarized(found), "lifetimes has several contestants with the name \"glibc malloc\"");
}

TEST(summarized, the_page_and_the_rows_can_be_written_without_rounds) {
    const result made = reread(summarized(fixture::small_result()));
    const std::string page = to_html(made);
    EXPECT_NE(page.find("glibc malloc"), std::string::npos);
    EXPECT_EQ(page.find("nan"), std::string::npos);
    const std::string rows = to_csv(made);
    EXPECT_NE(
        rows.find("lifetimes,glibc malloc,2.36,system,measured,,Release,glibc malloc,warm,alloc,ns/op,smaller,3,9,"),
        std::string::npos)
        << rows;
}

}

}
