// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Replays in worker processes: on several mallocs, and with redirected groups.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/harness/schedule.hpp"
#include "observe/replay/advice/advice_report.hpp"
#include "observe/replay/plan/neighbours.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "observe/replay/run/replay_limits.hpp"
#include "observe/replay/run/threads.hpp"
#include "replay/made_trace.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

found_malloc system_malloc() { return {std::string(system_malloc_name), {}, {}, true, {}, {}}; }

experiment_result replayed_on(const std::vector<found_malloc>& mallocs, const trace& recorded) {
    replay_plan one = make_plan(recorded);
    one.neighbours = neighbours_of(recorded, one);
    const replay_plan all = make_plan(recorded, plan_threads::recorded);
    const std::vector<const replay_plan*> plans{&one, &all};
    plan_file file;
    EXPECT_EQ(file.write(plans), "");
    const experiment& described = replay_experiments()[0];
    parameters options(described.options);
    options.set("wait", 0);
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

TEST(replay, single_calls_have_the_resolution_of_the_clock) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    experiment_result found = replayed_on({system_malloc()}, made::mixed_program(20'000, 3, 3));
    ASSERT_EQ(found.contestants[0].reason, "");
    const double step = figure(found.contestants[0], replay_timer_step);
    EXPECT_GT(step, 0);
    EXPECT_LT(step, 1000) << "ns";
    note_timer_step(found);
    for (const metric& each : found.contestants[0].metrics) {
        EXPECT_NE(each.name, replay_timer_step);
        EXPECT_EQ(each.resolution, each.name == "p50" ? step : each.name == replay_time ? 0 : each.resolution);
        if (each.resolution > 0) {
            EXPECT_GE(each.samples[0], step * 0.999) << each.name << " " << each.variant;
        }
    }
}

TEST(replay, a_hint_of_rounds_is_for_what_they_may_decide) {
    EXPECT_EQ(hint_of_rounds({.median = 0.97, .low = 0.9, .high = 1.1, .rounds = 9}), " (--rounds 36 may decide it)");
    EXPECT_EQ(hint_of_rounds({.median = 0.97, .low = 0.9, .high = 0.99, .rounds = 9}), "") << "it is decided";
    EXPECT_EQ(hint_of_rounds({.median = 1.02, .low = 0.9, .high = 1.1, .rounds = 9}), "") << "nothing is saved";
    EXPECT_EQ(hint_of_rounds({.median = 0.97, .low = 0.9, .high = 1.1, .rounds = 9000}),
              " (--rounds 10000 may decide it)");
    EXPECT_EQ(hint_of_rounds({.median = 0.97, .low = 0.9, .high = 1.1, .rounds = 10'000}), "");
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
        EXPECT_GT(figure(each, replay_first, "one thread"), 0);
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

replay_settings few_rounds() {
    replay_settings settings;
    settings.rounds = 6;
    settings.repeat = 1;
    return settings;
}

TEST(saving, a_group_that_is_empty_less_often_than_a_process_replays_it_is_measured_on_first_replays) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    replay_settings settings = few_rounds();
    for (const std::uint64_t documents : {3U, 30U}) {
        const trace recorded = made::document_program(documents, 100);
        const std::vector<block_life> lives = lives_of(recorded);
        const std::vector<block_group> groups = groups_of(recorded, lives);
        lifetime_advice advice;
        advice.kind = advice_kind::arena;
        const redirected_group one{&groups.front(), advice};
        settings.repeat = 10;
        const measured_saving found = measure_saving(recorded, {&one, 1}, system_malloc(), settings);
        EXPECT_EQ(found.error, "");
        EXPECT_EQ(found.is_first_alone, documents == 3U);
        EXPECT_EQ(found.time_ratio.rounds, documents == 3U ? 12U : 6U);
        EXPECT_EQ(found.first_ratio.rounds, found.time_ratio.rounds);
        if (found.is_first_alone) {
            EXPECT_EQ(found.first_ratio.median, found.time_ratio.median);
        }
    }
}

TEST(saving, nothing_that_is_redirected_saves_nothing) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    replay_settings settings = few_rounds();
    settings.chance = 1e-4;
    settings.rounds = least_rounds(settings.chance);
    const measured_saving found = measure_saving(made::node_program(2000, 50), {}, system_malloc(), settings);
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.same_contents);
    EXPECT_FALSE(std::isnan(found.time_ratio.high));
    EXPECT_FALSE(found.is_proven());
}

TEST(saving, a_library_of_offsets_is_no_malloc) {
    found_malloc offsets = system_malloc();
    offsets.has_offsets = true;
    const measured_saving found = measure_saving(made::node_program(100, 10), {}, offsets, few_rounds());
    EXPECT_NE(found.error.find("cannot be used as a malloc"), std::string::npos) << found.error;
}

TEST(replay, a_trace_that_this_machine_has_no_memory_for_is_refused_before_a_round) {
    made::program program;
    program.free(program.allocate(std::uint64_t{1} << 46));
    const trace recorded = program.take();
    EXPECT_NE(why_too_large(make_plan(recorded)).find("67108864"), std::string::npos);
    EXPECT_NE(advise_on(recorded, system_malloc(), {}).error.find("available"), std::string::npos);
    EXPECT_EQ(why_too_large(make_plan(made::node_program(100, 10))), "");
}

TEST(replay, hundreds_of_threads_are_not_started_at_once) {
    made::program program;
    for (std::uint32_t thread = 0; thread < 1000; ++thread) program.free(program.allocate(10, 0, thread), thread);
    const trace recorded = program.take();
    EXPECT_NE(why_no_threads(make_plan(recorded, plan_threads::recorded)).find("1000 threads"), std::string::npos);
    EXPECT_EQ(why_no_threads(make_plan(recorded)), "") << "one thread makes the calls of all";
}

TEST(replay, a_percentile_is_shown_of_as_many_calls_as_tell_it_from_the_worst) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const experiment_result few = replayed_on({system_malloc()}, made::node_program(900, 10));
    ASSERT_EQ(few.contestants[0].state, outcome::measured) << few.contestants[0].reason;
    EXPECT_GT(figure(few.contestants[0], "p99", "allocate"), 0);
    for (const metric& each : few.contestants[0].metrics) EXPECT_NE(each.name, "p99.9");
    const experiment_result more = replayed_on({system_malloc()}, made::node_program(20'000, 10));
    ASSERT_EQ(more.contestants[0].state, outcome::measured) << more.contestants[0].reason;
    EXPECT_GE(figure(more.contestants[0], "p99.99", "allocate"), figure(more.contestants[0], "p99.9", "allocate"));
    EXPECT_LE(figure(more.contestants[0], "p99.99", "allocate"), figure(more.contestants[0], "worst", "allocate"));
    for (const metric& each : more.contestants[0].metrics) EXPECT_NE(each.name, "p99.999");
}

TEST(replay, a_thread_without_memory_ends_the_others) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer ends the process instead";
    // Thread 1 waits for a block that thread 0 cannot allocate.
    made::program program;
    const std::uint64_t huge = program.allocate(std::uint64_t{1} << 46);
    program.free(huge, 1);
    const std::uint64_t after = program.allocate(10, 0, 1);
    program.free(after, 1);
    const replay_plan plan = make_plan(program.take(), plan_threads::recorded);
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    const threads_outcome found = play_threads(view_of(plan), held.data(), to, bare_around{});
    EXPECT_EQ(found.failure, no_memory);
}

TEST(replay, threads_hand_blocks_over_as_often_as_the_trace_is_replayed) {
    const trace recorded = made::mixed_program(5000, 21, 3);
    const replay_plan plan = make_plan(recorded, plan_threads::recorded);
    ASSERT_EQ(plan.error, "");
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    for (int i = 0; i < 3; ++i) {
        const threads_outcome found = play_threads(view_of(plan), held.data(), to, bare_around{});
        EXPECT_EQ(found.failure, "");
        EXPECT_GT(found.spent_ns, 0);
        bare_around around;
        player_state state;
        for (std::size_t thread = 0; thread < plan.threads.size(); ++thread)
            EXPECT_TRUE(play(view_of(plan).tail_of(thread), held.data(), to, around, state));
    }
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
    EXPECT_GE(found.comparisons, 1U);
    EXPECT_GE(found.replay.rounds, least_rounds(usual_chance / static_cast<double>(found.comparisons)));
    EXPECT_TRUE(found.has_stacks);
    EXPECT_FALSE(found.has_frames);
    const advised_group& group = found.groups.front();
    EXPECT_TRUE(group.was_measured) << "what fits is shown first";
    EXPECT_EQ(group.advice.kind != advice_kind::leave_alone, group.saving.is_proven());
    EXPECT_TRUE(group.saving.is_proven() || !group.reason.empty());
}

TEST(advice_report, groups_that_are_too_small_are_not_promised) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    made::program program;
    const std::uint32_t most = program.stack({made::list_code + 8, made::main_code + 4}),
                        few = program.stack({made::other_code + 8, made::main_code + 4});
    for (std::uint64_t i = 0; i < 2000; ++i) program.allocate(16 + i % 90 * 50, most);
    program.allocate(10, few);
    advice_settings settings;
    settings.replay = few_rounds();
    const advice_report found = advise_on(program.take(), system_malloc(), settings);
    EXPECT_EQ(found.small_groups, 1U);
    EXPECT_EQ(found.other_groups, 0U) << "--groups would not show it";
}

TEST(advice_report, a_trace_without_allocations_is_refused) {
    const advice_report found = advise_on(trace{}, system_malloc(), {});
    EXPECT_NE(found.error.find("no allocation"), std::string::npos);
}

}
