// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// An allocator that breaks its promises fails, though every timed loop reads back what it stored.

#include <gtest/gtest.h>

#include "bench/experiments/pools/pools_contestant.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/schedule.hpp"
#include "experiments/broken_pools.hpp"
#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

parameters few_objects() {
    parameters options(pools_experiment.options);
    options.set("pairs", 10);
    options.set("objects", 1000);
    options.set("repeats", 2);
    options.set("destroys", 20);
    return options;
}

template<class Adaptor>
std::string failure_of(void (*suite)(const task&)) {
    kept_recorder found;
    const parameters options = few_objects();
    suite({options, 5, 0, found});
    EXPECT_GT(found.shown, 0u);
    return found.failure;
}

using sound = broken::sound<64>;
using too_narrow = broken::too_narrow<64>;
using askew = broken::askew_after_frees<64>;
using under_aligned = broken::under_aligned<64>;

TEST(pools_check, a_sound_pool_passes_every_suite) {
    EXPECT_EQ(failure_of<sound>(run_pairs<sound>), "");
    EXPECT_EQ(failure_of<sound>(run_whole<sound>), "");
    EXPECT_EQ(failure_of<sound>(run_destroy_one<sound>), "");
}

TEST(pools_check, objects_that_overlap_are_seen_in_every_suite) {
    EXPECT_EQ(failure_of<too_narrow>(run_pairs<too_narrow>), "two blocks overlapped");
    EXPECT_EQ(failure_of<too_narrow>(run_whole<too_narrow>), "two blocks overlapped");
    EXPECT_EQ(failure_of<too_narrow>(run_destroy_one<too_narrow>), "two blocks overlapped");
}

TEST(pools_check, objects_that_overlap_after_frees_only_are_seen) {
    EXPECT_EQ(failure_of<askew>(run_whole<askew>), "two blocks overlapped");
    EXPECT_EQ(failure_of<askew>(run_destroy_one<askew>), "two blocks overlapped");
}

TEST(pools_check, objects_that_are_not_aligned_as_promised_are_seen) {
    EXPECT_EQ(failure_of<under_aligned>(run_pairs<under_aligned>), "a block did not have the requested alignment");
    EXPECT_EQ(failure_of<under_aligned>(run_whole<under_aligned>), "a block did not have the requested alignment");
}

/// Sound, and drops everything; what it hands out after a drop overlaps.
struct narrow_after_a_drop {
    using object = test_object<64>;
    explicit narrow_after_a_drop(std::size_t max_alive) : memory(max_alive * sizeof(object)) {}
    object* construct(int number) { return new (memory.data() + stride * next++) object(number); }
    void destroy(object*) {}
    void drop() {
        next = 0;
        stride = 60;
    }
    static constexpr bool singly = false;
    page_array<char> memory;
    std::size_t stride = sizeof(object), next = 0;
};

TEST(pools_check, objects_that_overlap_after_a_drop_are_seen) {
    EXPECT_EQ(failure_of<narrow_after_a_drop>(run_drop<narrow_after_a_drop>), "two blocks overlapped");
}

TEST(pools_check, the_check_leaves_the_figures_as_they_were) {
    kept_recorder found;
    const parameters options = few_objects();
    run_whole<broken::sound<280>>({options, 5, 0, found});
    EXPECT_LE(found.values.at("all alive, 280 B"), found.values.at("peak, 280 B"));
    EXPECT_EQ(found.values.count("after free, 280 B"), 1u);
    EXPECT_EQ(found.values.count("refill, 280 B, warm, random"), 1u);
}

/// As main() of a command: each row in a process of its own.
experiment_result run_broken(pool_suite suite) {
    const std::vector<measured_row> rows = list_rows(broken::pools(), {}, {});
    run_settings settings;
    settings.rounds = 1;
    settings.parts = part_bit(suite, 1); // 64 B
    return run_experiment(broken::pools(), few_objects(), rows, settings);
}

TEST(pools_check, a_broken_pool_is_a_failed_row_without_numbers) {
    const experiment_result found = run_broken(pool_suite::whole);
    ASSERT_EQ(found.contestants.size(), 5u);
    EXPECT_EQ(found.contestants[0].state, outcome::measured) << found.contestants[0].reason;
    constexpr std::array<std::string_view, 5> reasons{
        "", "two blocks overlapped", "two blocks overlapped", "a block did not have the requested alignment",
        "not proven: forgetful called directly; 0 of 1000 blocks asked are its own by forgetful::owns"};
    for (std::size_t i = 1; i < reasons.size(); ++i) {
        const contestant_result& row = found.contestants[i];
        EXPECT_EQ(row.state, outcome::failed) << row.name;
        EXPECT_EQ(row.reason, "all, 64 B, round 1: " + std::string{reasons[i]}) << row.name;
        EXPECT_TRUE(row.metrics.empty()) << row.name;
    }
}

}
