// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Memory over the trace, memory later, and distances: by hand, and of a malloc whose figures are known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/harness/schedule.hpp"
#include "observe/replay/plan/neighbours.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/memory_parts.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "replay/made_trace.hpp"
#include "report/chart/resident_chart.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

constexpr double bytes_per_mib = 1024.0 * 1024;

/// Live bytes after each event, from 0 events on.
std::vector<std::uint64_t> live_bytes_of(const trace& recorded) {
    std::vector<std::uint64_t> after{0};
    std::map<std::uint64_t, std::uint64_t> bytes;
    std::uint64_t live = 0;
    for (const trace_event& event : recorded.events) {
        if (event.call != trace_call::frame && event.call != trace_call::mark) {
            live -= bytes[event.block];
            live += bytes[event.block] = event.call == trace_call::deallocate ? 0 : event.bytes;
        }
        after.push_back(live);
    }
    return after;
}

TEST(memory_places, have_the_live_bytes_of_the_trace_and_its_peak) {
    for (std::uint64_t seed = 1; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const trace recorded = made::mixed_program(5000 + seed * 37, seed, 3);
        const std::vector<std::uint64_t> live = live_bytes_of(recorded);
        const replay_plan plan = make_plan(recorded);
        ASSERT_GE(plan.places.size(), plan_places + 1) << "and one before the first event";
        ASSERT_LE(plan.places.size(), plan_places + 2) << "the peak, unless it is among them";
        EXPECT_EQ(plan.places.front().event, 0U);
        EXPECT_EQ(plan.places.back().event, recorded.events.size());
        EXPECT_EQ(plan.places.back().op, plan.threads[0].count);
        std::uint64_t peak = 0, before = 0;
        for (const plan_place& each : plan.places) {
            EXPECT_EQ(each.live_bytes, live.at(each.event)) << "after event " << each.event;
            EXPECT_EQ(each.time_ns, each.event * 100) << "this trace has an event each 100 ns";
            EXPECT_LE(each.event - before, recorded.events.size() / plan_places + 1) << "at equal distances";
            before = each.event;
            peak = std::max(peak, each.live_bytes);
        }
        EXPECT_EQ(peak, *std::max_element(live.begin(), live.end()));
        EXPECT_EQ(peak, plan.peak_bytes);
    }
}

TEST(memory_places, of_a_short_trace_are_all_its_events) {
    made::program program;
    const std::uint64_t first = program.allocate(100);
    program.resize(first, 50);
    program.mark();
    program.frame();
    program.free(first);
    const replay_plan plan = make_plan(program.take());
    std::vector<std::uint64_t> live, ops;
    for (const plan_place& each : plan.places) {
        live.push_back(each.live_bytes);
        ops.push_back(each.op);
    }
    EXPECT_EQ(live, (std::vector<std::uint64_t>{0, 100, 50, 50, 50, 0}));
    EXPECT_EQ(ops, (std::vector<std::uint64_t>{0, 1, 3, 3, 4, 5})) << "a resize is two operations, a mark none";
    EXPECT_TRUE(make_plan(made::mixed_program(500, 1, 3), plan_threads::recorded).places.empty());
}

TEST(neighbours, are_living_blocks_of_one_stack_and_thread) {
    made::program program;
    const std::uint32_t here = program.stack({made::list_code}), there = program.stack({made::other_code});
    const std::uint64_t first = program.allocate(10, here);    // op 0
    program.allocate(20, there);                               // op 1
    program.allocate(30, here);                                // op 2: beside the first
    const std::uint64_t other = program.allocate(40, here, 1); // op 3: of another thread
    program.resize(first, 500);                                // ops 4 and 5
    program.free(other, 1);                                    // op 6
    program.allocate(50, here, 1);                             // op 7: the one before is freed
    program.allocate(60, there);                               // op 8: beside op 1
    const trace recorded = program.take();
    const replay_plan plan = make_plan(recorded);
    const std::vector<std::uint32_t> found = neighbours_of(recorded, plan);
    ASSERT_EQ(found.size(), plan.ops.size());
    for (std::size_t op = 0; op < found.size(); ++op) {
        const std::uint32_t expected = op == 2 ? plan.ops[0].slot : op == 8 ? plan.ops[1].slot : no_neighbour;
        EXPECT_EQ(found[op], expected) << op;
    }
}

TEST(neighbours, of_a_trace_without_stacks_are_of_one_size_class) {
    made::program program;
    program.allocate(40);
    program.allocate(4000);
    program.allocate(41);
    const trace recorded = program.take();
    const replay_plan plan = make_plan(recorded);
    EXPECT_EQ(neighbours_of(recorded, plan)[2], plan.ops[0].slot);
    EXPECT_EQ(neighbours_of(recorded, plan)[1], no_neighbour);
}

TEST(memory_parts, the_mean_is_the_area_of_resident_over_the_area_of_live) {
    const std::vector<plan_place> places{{0, 0, 0, 0}, {1, 1, 10, 100}, {2, 2, 40, 50}, {3, 3, 50, 0}};
    const std::vector<std::int64_t> resident{0, 200, 200, 200};
    EXPECT_DOUBLE_EQ(mean_resident_per_live(places, resident), (200.0 * 30 + 200.0 * 10) / (100.0 * 30 + 50.0 * 10));
    std::vector<plan_place> timeless = places;
    for (plan_place& each : timeless) each.time_ns = 7;
    EXPECT_DOUBLE_EQ(mean_resident_per_live(timeless, resident), (200.0 + 200.0) / (100.0 + 50.0)) << "by events";
    EXPECT_TRUE(std::isnan(mean_resident_per_live(std::span(places).first(1), resident))) << "nothing lives in no time";
    EXPECT_TRUE(std::isnan(mean_resident_per_live({}, {})));
}

TEST(memory_parts, distance_is_between_the_end_and_the_begin) {
    EXPECT_EQ(bytes_between(1000, 40, 1056, 8), 16U);
    EXPECT_EQ(bytes_between(1056, 8, 1000, 40), 16U);
    EXPECT_EQ(bytes_between(1000, 40, 1040, 8), 0U);
}

/// A replay of the parts that are about memory, on the malloc of programs/bump_malloc.cpp.
experiment_result replayed_on_bump(const trace& recorded, std::uint32_t rounds) {
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
    const found_malloc bump = find_malloc_file((own.parent_path() / "libbump_malloc.so").string());
    EXPECT_TRUE(bump.found) << bump.reason;
    replay_plan plan = make_plan(recorded);
    plan.neighbours = neighbours_of(recorded, plan);
    const replay_plan* const plans = &plan;
    plan_file file;
    EXPECT_EQ(file.write({&plans, 1}), "");
    const experiment& described = replay_experiments()[0];
    parameters options(described.options);
    options.set("wait", 1);
    options.set_input(file.descriptor());
    run_settings how;
    how.rounds = rounds;
    how.parts = 1U << part_memory | 1U << part_later | 1U << part_distances;
    return run_experiment(described, options, list_rows(described, {&bump, 1}, {}), how);
}

double figure_of(const contestant_result& row, std::string_view name) {
    for (const metric& each : row.metrics)
        if (each.name == name) return each.samples.front();
    ADD_FAILURE() << name << " is not among the figures";
    return -1;
}

const series* list_named(const contestant_result& row, std::string_view name) {
    for (const series& each : row.lists)
        if (each.name == name) return &each;
    ADD_FAILURE() << name << " is not among the lists";
    return nullptr;
}

/// Blocks of 48 bytes, of which all live: each lies 16 bytes behind the one before.
TEST(memory_parts, a_malloc_that_returns_nothing_shows_it_later_and_its_distances_are_known) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    constexpr std::uint64_t blocks = 100'000;
    made::program program;
    const std::uint32_t stack = program.stack({made::list_code});
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < blocks; ++i) all.push_back(program.allocate(48, stack));
    for (const std::uint64_t each : all) program.free(each);
    const trace recorded = program.take();
    const experiment_result found = replayed_on_bump(recorded, 3);
    ASSERT_EQ(found.contestants.size(), 1U);
    const contestant_result& row = found.contestants.front();
    ASSERT_EQ(row.state, outcome::measured) << row.reason;

    constexpr double taken_mib = blocks * 64 / bytes_per_mib;
    EXPECT_NEAR(figure_of(row, replay_peak), taken_mib, 0.1);
    EXPECT_NEAR(figure_of(row, "at the end"), taken_mib, 0.1);
    EXPECT_NEAR(figure_of(row, "0.1 s later"), taken_mib, 0.1);
    EXPECT_NEAR(figure_of(row, "1 s later"), taken_mib, 0.1);
    for (const metric& each : row.metrics) EXPECT_NE(each.name, "5 s later") << "the process waits for a second";
    EXPECT_NEAR(figure_of(row, "peak of live bytes"), blocks * 48 / bytes_per_mib, 1e-9);
    // Half of the trace allocates at 64 bytes for 48; then all stays while the live bytes fall to nothing.
    EXPECT_NEAR(figure_of(row, replay_mean), 64.0 / 48 * 1.5, 0.02);

    EXPECT_EQ(figure_of(row, replay_distance), 16);
    EXPECT_EQ(figure_of(row, replay_close), 100);
    EXPECT_EQ(figure_of(row, "pairs"), blocks - 1);
    EXPECT_NEAR(figure_of(row, replay_same_page), 100 * (1 - 1 / 64.0), 0.01) << "64 blocks begin in a page";

    const series* const course = list_named(row, course_resident);
    ASSERT_NE(course, nullptr);
    ASSERT_EQ(course->values.size(), make_plan(recorded).places.size());
    EXPECT_LT(course->values.front(), 8) << "before the first call";
    EXPECT_TRUE(std::is_sorted(course->values.begin(), course->values.end())) << "nothing is used again";
    EXPECT_NEAR(static_cast<double>(course->values[plan_places / 4]) / 1024, taken_mib / 2, 0.1);
    const series* const later = list_named(row, resident_readings_name);
    ASSERT_NE(later, nullptr);
    EXPECT_EQ(later->values.size(), 5U) << "four times a second, from 0 on";
}

/// Every second block is of another stack and has 4,000 bytes: no two blocks of one stack are close.
TEST(memory_parts, blocks_with_others_between_them_are_far_apart) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    made::program program;
    const std::uint32_t list = program.stack({made::list_code}), other = program.stack({made::other_code});
    for (std::uint64_t i = 0; i < 1000; ++i) {
        program.allocate(48, list);
        program.allocate(4000, other);
    }
    const experiment_result found = replayed_on_bump(program.take(), 1);
    const contestant_result& row = found.contestants.front();
    ASSERT_EQ(row.state, outcome::measured) << row.reason;
    // Half of the pairs have a small block between them, half a large one.
    EXPECT_EQ(figure_of(row, "pairs"), 2 * 999);
    EXPECT_EQ(figure_of(row, replay_close), 0);
    EXPECT_EQ(figure_of(row, replay_distance), 48 + 2 * 16) << "the median is the lower one of both";
    EXPECT_LT(figure_of(row, replay_same_page), 2);
}

TEST(memory_parts, a_replay_without_neighbours_has_no_distances_and_says_why) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const replay_plan plan = make_plan(made::node_program(100, 10));
    const replay_plan* const plans = &plan;
    plan_file file;
    ASSERT_EQ(file.write({&plans, 1}), "");
    const experiment& described = replay_experiments()[0];
    parameters options(described.options);
    options.set_input(file.descriptor());
    run_settings how;
    how.rounds = 1;
    how.parts = 1U << part_distances;
    const found_malloc own{std::string(system_malloc_name), {}, {}, true, {}, {}};
    const experiment_result found = run_experiment(described, options, list_rows(described, {&own, 1}, {}), how);
    ASSERT_EQ(found.contestants.front().state, outcome::failed);
    EXPECT_NE(found.contestants.front().reason.find("used together"), std::string::npos);
}

}
