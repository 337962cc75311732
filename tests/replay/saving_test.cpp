// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Replays in worker processes: on several mallocs, and with redirected groups.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/harness/schedule.hpp"
#include "observe/replay/advice/advice_report.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "replay/made_trace.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

found_malloc system_malloc() { return {std::string(system_malloc_name), {}, {}, true, {}, {}}; }

experiment_result replayed_on(const std::vector<found_malloc>& mallocs, const trace& recorded) {
    const replay_plan one = make_plan(recorded), all = make_plan(recorded, plan_threads::recorded);
    const std::vector<const replay_plan*> plans{&one, &all};
    plan_file file;
    EXPECT_EQ(file.write(plans), "");
    const experiment& described = replay_experiments()[0];
    parameters options(described.options);
    options.set_input(file.descriptor());
    run_settings how;
    how.rounds = 1;
    return run_experiment(described, options, list_rows(described, mallocs, {}), how);
}

double figure(const contestant_result& row, std::string_view name, std::string_view variant = {}) {
    for (const metric& each : row.metrics)
        if (each.name == name && each.variant == variant) return each.samples.front();
    ADD_FAILURE() << name << " is not among the figures";
    return -1;
}

TEST(replay, every_installed_malloc_replays_a_program_with_threads) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const experiment_result found = replayed_on(find_mallocs(), made::mixed_program(20'000, 3, 3));
    std::size_t measured = 0;
    for (const contestant_result& each : found.contestants) {
        if (each.state == outcome::missing) continue;
        ASSERT_EQ(each.state, outcome::measured) << each.name << ": " << each.reason;
        ++measured;
        EXPECT_GT(figure(each, replay_time, "one thread"), 0);
        EXPECT_GT(figure(each, replay_time, "threads as recorded"), 0);
        EXPECT_GE(figure(each, "p99.9", "allocate"), figure(each, "p50", "allocate"));
        EXPECT_GT(figure(each, replay_peak), 0);
        EXPECT_EQ(figure(each, replay_digest), figure(found.contestants[0], replay_digest)) << "the same data";
        EXPECT_FALSE(each.proof.empty());
    }
    EXPECT_GE(measured, 1U);
}

TEST(replay, a_block_that_no_malloc_can_provide_fails_the_row_in_words) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    made::program program;
    program.free(program.allocate(std::uint64_t{1} << 46));
    const experiment_result found = replayed_on({system_malloc()}, program.take());
    ASSERT_EQ(found.contestants[0].state, outcome::failed);
    EXPECT_NE(found.contestants[0].reason.find("had no memory"), std::string::npos) << found.contestants[0].reason;
}

TEST(saving, both_replays_hold_the_same_data_and_are_compared_by_round) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const trace recorded = made::scratch_program(300, 30, ~0U);
    const std::vector<block_life> lives = lives_of(recorded);
    const std::vector<block_group> groups = groups_of(recorded, lives);
    const group_advice advice = advise(recorded, groups.front(), lives);
    ASSERT_FALSE(advice.fits.empty()) << advice.refusal;
    replay_settings settings;
    settings.rounds = 6;
    settings.repeat = 2;
    const redirected_group one{&groups.front(), advice.fits.front()};
    const measured_saving found = measure_saving(recorded, {&one, 1}, system_malloc(), settings);
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.same_contents);
    EXPECT_EQ(found.time_ratio.rounds, 6U);
    EXPECT_LE(found.time_ratio.low, found.time_ratio.median);
    EXPECT_LE(found.time_ratio.median, found.time_ratio.high);
    EXPECT_GT(found.recorded_ns, 0);
}

TEST(saving, memory_that_ends_too_early_is_no_advice) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const trace recorded = made::frame_program(60, 30, 3);
    const std::vector<block_life> lives = lives_of(recorded);
    const std::vector<block_group> groups = groups_of(recorded, lives);
    lifetime_advice wrong;
    wrong.kind = advice_kind::temp;
    wrong.where = scope_place::frame;
    const redirected_group one{&groups.front(), wrong};
    replay_settings settings;
    settings.rounds = 6;
    settings.repeat = 1;
    const measured_saving found = measure_saving(recorded, {&one, 1}, system_malloc(), settings);
    EXPECT_NE(found.error.find("did not hold the data"), std::string::npos) << found.error;
    EXPECT_FALSE(found.is_proven());
}

TEST(advice_report, every_group_has_a_proof_or_a_reason) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    advice_settings settings;
    settings.replay.rounds = 6;
    settings.replay.repeat = 1;
    settings.max_groups = 1;
    const advice_report found = advise_on(made::scratch_program(300, 30, ~0U), system_malloc(), settings);
    EXPECT_EQ(found.error, "");
    ASSERT_EQ(found.groups.size(), 1U);
    EXPECT_GE(found.other_groups, 1U) << "what was not looked at is counted";
    EXPECT_TRUE(found.has_stacks);
    EXPECT_FALSE(found.has_frames);
    const advised_group& group = found.groups.front();
    EXPECT_TRUE(group.was_measured) << "what fits is shown first";
    EXPECT_EQ(group.advice.kind != advice_kind::leave_alone, group.saving.is_proven());
    EXPECT_TRUE(group.saving.is_proven() || !group.reason.empty());
}

TEST(advice_report, a_trace_without_allocations_is_refused) {
    const advice_report found = advise_on(trace{}, system_malloc(), {});
    EXPECT_NE(found.error.find("no allocation"), std::string::npos);
}

}
