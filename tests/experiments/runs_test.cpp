// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Every contestant measures every part that it takes part in, at a size that is done at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "bench/experiments/pools/pools.hpp"
#include "bench/experiments/registry.hpp"
#include "bench/experiments/shared/exchange.hpp"
#include "bench/harness/schedule.hpp"
#include "report/result/primary.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

parameters tiny(const experiment& chosen) {
    parameters options(chosen.options);
    for (const auto& [name, value] : std::vector<std::pair<std::string_view, std::int64_t>>{{"count", 200},
                                                                                            {"batches", 4},
                                                                                            {"budget", 65536},
                                                                                            {"exchange-groups", 1},
                                                                                            {"pairs", 100},
                                                                                            {"objects", 3000},
                                                                                            {"repeats", 2},
                                                                                            {"destroys", 20},
                                                                                            {"live", 500},
                                                                                            {"steps", 500},
                                                                                            {"passes", 2},
                                                                                            {"blocks", 1000},
                                                                                            {"refills", 2},
                                                                                            {"largest-kib", 1024},
                                                                                            {"volume-mib", 2},
                                                                                            {"live-mib", 2},
                                                                                            {"many-largest-kib", 256},
                                                                                            {"grown-mib", 1},
                                                                                            {"growths", 2},
                                                                                            {"megabytes", 2},
                                                                                            {"pattern-mib", 1},
                                                                                            {"pattern-blocks", 3},
                                                                                            {"wait-ms", 1},
                                                                                            {"epochs", 3},
                                                                                            {"turnovers", 1},
                                                                                            {"holes", 3000},
                                                                                            {"idle", 1},
                                                                                            {"starts", 3},
                                                                                            {"programs", 5},
                                                                                            {"large-pairs", 2},
                                                                                            {"small-bytes", 4096},
                                                                                            {"pages", 3},
                                                                                            {"samples", 2000}}) {
        for (const option_spec& option : chosen.options) {
            if (option.name == name) options.set(name, value);
        }
    }
    return options;
}

bool finite(const metric& each) { return std::isfinite(each.samples.at(0)); }

/// Distances have a direction, and a difference of times is what it is.
bool may_be_negative(const metric& each) {
    return each.name == "overflow distance" || each.name == exchange_difference;
}

const metric* find_metric(const contestant_result& row, std::string_view name, std::string_view variant) {
    for (const metric& each : row.metrics) {
        if (each.name == name && each.variant == variant) return &each;
    }
    return nullptr;
}

class each_experiment_runs : public testing::TestWithParam<std::size_t> {
protected:
    static std::vector<measured_row> all_rows(const experiment& chosen) {
        return list_rows(chosen, find_mallocs(), library_peers());
    }
    /// Empty: it can run. The sanitizer has a malloc of its own, which no preload replaces and no proof accepts.
    static std::string why_not(const measured_row& row) {
        if (!row.missing.empty()) return row.missing;
        return support::under_sanitizer() && row.runs_on_malloc ? "the sanitizer brings a malloc of its own" : "";
    }
    static std::vector<measured_row> rows_that_can_run(const experiment& chosen) {
        std::vector<measured_row> rows = all_rows(chosen);
        std::erase_if(rows, [](const measured_row& row) { return !why_not(row).empty(); });
        return rows;
    }
    static experiment_result run(const experiment& chosen) {
        run_settings settings;
        settings.rounds = 1;
        return run_experiment(chosen, tiny(chosen), rows_that_can_run(chosen), settings);
    }
};

/// Peaks, what stays after a free or a trim, what is resident: whatever its unit is.
bool is_memory(const metric& each) {
    return each.sense != better::neither && (each.unit == "MiB" || each.unit.starts_with("B/"));
}

TEST_P(each_experiment_runs, to_its_end_with_every_contestant) {
    const experiment& chosen = experiments()[GetParam()];
    const std::vector<measured_row> rows = all_rows(chosen);
    ASSERT_FALSE(rows.empty()) << "an experiment without rows measures nothing";
    const std::size_t expected = rows_that_can_run(chosen).size();
    if (expected == 0) GTEST_SKIP() << why_not(rows[0]);
    const experiment_result found = run(chosen);
    EXPECT_EQ(found.rounds, 1u);
    EXPECT_EQ(found.contestants.size(), expected);
    std::size_t measured = 0;
    for (const contestant_result& row : found.contestants) {
        measured += row.state == outcome::measured;
        if (row.state == outcome::missing && !row.left_out.empty())
            continue; // the machine or the build lacks something
        EXPECT_EQ(row.state, outcome::measured) << row.name << ": " << row.reason;
        EXPECT_FALSE(row.proof.empty()) << row.name;
        EXPECT_FALSE(row.metrics.empty()) << row.name;
        for (const metric& each : row.metrics) {
            EXPECT_TRUE(finite(each)) << row.name << ", " << each.variant << ", " << each.name;
            EXPECT_TRUE(each.samples.at(0) >= 0 || may_be_negative(each)) << row.name << ", " << each.name;
            EXPECT_TRUE(!is_memory(each) || is_primary(found, each.name, each.variant))
                << each.name << ", " << each.variant << ": memory is a primary figure in every variant";
        }
    }
    EXPECT_GT(measured, 0u) << "every row was left out";
    EXPECT_FALSE(chosen.primary.empty());
    if (support::under_sanitizer() || found.contestants.empty()) return; // most contestants, or all, cannot run here
    for (const figure_pattern& each : unmatched_primary(found)) ADD_FAILURE() << each.metric << ", " << each.variant;
}

INSTANTIATE_TEST_SUITE_P(all, each_experiment_runs, testing::Range<std::size_t>(0, experiments().size()),
                         [](const auto& each) { return std::string{experiments()[each.param].name}; });

/// A peer that is missing takes its rows out of every experiment, so that is told by a test for each.
struct peer_on_this_machine {
    std::string name, missing;
};

std::vector<peer_on_this_machine> all_peers() {
    std::vector<peer_on_this_machine> peers;
    for (const found_malloc& each : find_mallocs()) peers.push_back({each.name, each.found ? "" : each.reason});
    for (const library_peer& each : library_peers()) {
        std::string missing{each.missing_because};
        if (missing.empty())
            missing = each.package.empty() ? "no package has it" : std::string(each.package) + " is not installed";
        peers.push_back({std::string(each.name), each.present ? "" : missing});
    }
    return peers;
}

class each_peer : public testing::TestWithParam<peer_on_this_machine> {};

TEST_P(each_peer, is_there_to_be_measured) {
    if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
    bool takes_part = false;
    const std::vector<found_malloc> mallocs = find_mallocs();
    for (const experiment& chosen : experiments()) {
        for (const measured_row& row : list_rows(chosen, mallocs, library_peers())) {
            takes_part = takes_part || row.peer == GetParam().name || row.name == GetParam().name;
        }
    }
    EXPECT_TRUE(takes_part) << GetParam().name << " has a row in no experiment";
}

INSTANTIATE_TEST_SUITE_P(all, each_peer, testing::ValuesIn(all_peers()), [](const auto& each) {
    std::string name = each.param.name;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
    return name;
});

class lifetimes : public each_experiment_runs {
protected:
    static const experiment_result& found() {
        static const experiment_result once = run(experiments()[0]);
        return once;
    }
    static const contestant_result& row(std::string_view name) {
        for (const contestant_result& each : found().contestants) {
            if (each.name == name) return each;
        }
        throw std::runtime_error("no such row");
    }
};

TEST_F(lifetimes, a_bump_leaves_no_distance) {
    const contestant_result& bump = row("trivial bump");
    ASSERT_EQ(bump.lists.size(), 2u);
    EXPECT_EQ(bump.lists[0].values, std::vector<std::int64_t>(199, 0));
}

TEST_F(lifetimes, temp_overflows_where_its_budget_ends_and_not_before) {
    const contestant_result& temp = row("tenure Temp");
    const metric* const index = find_metric(temp, "overflow index", "overflow of 16 KiB");
    ASSERT_NE(index, nullptr);
    EXPECT_GT(index->samples[0], 500);
    EXPECT_LE(index->samples[0], 4096);
    EXPECT_EQ(find_metric(temp, "distances before it", "overflow of 16 KiB")->samples[0], 1);
}

TEST_F(lifetimes, temp_job_is_measured_with_two_threads) {
    EXPECT_NE(find_metric(row("tenure TempJob"), "with the hand-over", "two threads"), nullptr);
    EXPECT_NE(row("tenure TempJob").note.find("threads ran on CPU"), std::string::npos) << row("tenure TempJob").note;
}

TEST_F(lifetimes, who_can_be_asked_for_its_blocks_is_asked) {
    const auto expect_proof = [](std::string_view name, std::string_view words) {
        const std::string& proof = row(name).proof;
        EXPECT_NE(proof.find(words), std::string::npos) << name << ": " << proof;
    };
    expect_proof("trivial bump", "200 of 200 blocks asked are its own by its range");
    expect_proof("tenure Temp", "blocks asked are its own by temp::owns");
    expect_proof("tenure TempJob", "blocks asked are its own by temp_job::owns");
    expect_proof("pmr monotonic", "it has no call to ask for its blocks");
}

class pools : public each_experiment_runs {};

TEST_F(pools, who_can_be_asked_for_its_objects_is_asked) {
    const experiment& chosen = experiments()[1];
    std::vector<measured_row> rows = rows_that_can_run(chosen);
    std::erase_if(rows, [](const measured_row& row) { return row.parts == 0; });
    run_settings settings;
    settings.rounds = 1;
    settings.parts = part_bit(pool_suite::drop, 1) | part_bit(pool_suite::pairs, 1);
    const std::vector<std::pair<std::string_view, std::string_view>> expected{
        {"tenure pool", "pool::owns"},
        {"tenure block_pool", "block_pool::owns"},
        {"tenure shared_pool", "shared_pool::owns"},
        {"tenure small_object", "are counted by small_object::stats"},
        {"mimalloc heap", "mi_heap_contains_block"},
        {"boost::pool", "boost::pool::is_from"},
        {"boost::object_pool", "boost::object_pool::is_from"},
        {"boost::fast_pool_allocator", "boost::singleton_pool::is_from"},
        {"Loki::SmallObject", "it has no call to ask for its blocks"},
        {"pmr unsynchronized pool", "it has no call to ask for its blocks"},
        {"a plain free list", "its range"},
    };
    for (const contestant_result& each : run_experiment(chosen, tiny(chosen), rows, settings).contestants) {
        EXPECT_EQ(each.state, outcome::measured) << each.name << ": " << each.reason;
        for (const auto& [name, words] : expected) {
            if (each.name != name) continue;
            EXPECT_NE(each.proof.find(words), std::string::npos) << each.name << ": " << each.proof;
        }
    }
}

}
