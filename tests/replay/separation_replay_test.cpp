// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Replays with call sites in pages of their own: where memory is read, and what ends a replay.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/replay/separation/separation_replay.hpp"
#include "observe/replay/separation/site_figures.hpp"
#include "replay/made_trace.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

const char* const why_skipped = "a sanitizer's own memory is among what is measured";
const std::vector<std::vector<std::uint8_t>> ordinary(1);

trace allocations(std::uint64_t count, std::uint64_t bytes) {
    made::program program;
    for (std::uint64_t i = 0; i < count; ++i) program.allocate(bytes);
    return program.take();
}

TEST(separation_replay, a_trace_of_few_events_is_read_at_each_of_them) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_skipped;
    for (const std::uint64_t count : {1U, 50U, 99U, 100U, 150U}) {
        const trace recorded = allocations(count, 100'000);
        separation_replay replay(recorded);
        ASSERT_EQ(replay.error(), "");
        if (count <= 100) {
            EXPECT_DOUBLE_EQ(replay.mean_live(), 50'000.0 * static_cast<double>(count + 1)) << count;
        } else {
            EXPECT_NEAR(replay.mean_live(), 50'000.0 * 151, 100'000);
        }
        const std::vector<separated_memory> found = replay.measure(ordinary, which_memory::all);
        ASSERT_EQ(found.size(), 1U) << replay.error();
        EXPECT_GT(found[0].mean, 0) << count;
        EXPECT_GT(found[0].trimmed, 0) << count;
        EXPECT_GE(found[0].peak, found[0].mean);
        EXPECT_GE(found[0].trimmed_peak, found[0].trimmed);
    }
}

TEST(separation_replay, places_are_at_equal_distances_in_events) {
    made::program program;
    for (int i = 0; i < 100; ++i) program.allocate(100'000);
    for (int i = 0; i < 50; ++i) program.mark();
    const std::uint64_t block = program.allocate(100);
    for (std::uint64_t i = 1; i < 300; ++i) program.resize(block, 100 + i);
    const trace recorded = program.take();
    const separation_replay replay(recorded);
    ASSERT_EQ(replay.error(), "");
    // A quarter of the events, in which 10 MB grow, and three quarters in which they stay. A resize is two operations.
    EXPECT_NEAR(replay.mean_live(), 0.25 * 5e6 + 0.75 * 10e6, 100'000);
    // The first block is held from the first event to the last, and marks are no events.
    EXPECT_NEAR(figures_of_stacks(allocations(1, 100'000))[0].held, 100'000, 1);
    made::program marked;
    const std::uint64_t half = marked.allocate(1000);
    marked.free(half);
    for (int i = 0; i < 98; ++i) marked.mark();
    EXPECT_NEAR(figures_of_stacks(marked.take())[0].held, 500, 1);
}

TEST(separation_replay, the_pages_that_trim_itself_needs_are_not_counted) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_skipped;
    const trace recorded = allocations(120, 16);
    separation_replay replay(recorded);
    const std::vector<separated_memory> found = replay.measure(ordinary, which_memory::all);
    ASSERT_EQ(found.size(), 1U) << replay.error();
    EXPECT_LE(found[0].trimmed, found[0].mean + 65'536);
}

TEST(separation_replay, medians_of_several_replays_are_given) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_skipped;
    const trace recorded = allocations(200, 100'000);
    separation_replay replay(recorded);
    const std::vector<std::vector<std::uint8_t>> two(2);
    EXPECT_EQ(replay.measure(two, which_memory::all, 3).size(), 2U) << replay.error();
    EXPECT_EQ(replay.replays(), 2U * 2 * 3);
    EXPECT_EQ(replay.measure(two, which_memory::trimmed, 3).size(), 2U);
    EXPECT_EQ(replay.replays(), 2U * 3 * 3);
}

TEST(separation_replay, a_replay_that_takes_too_long_is_ended) {
    const trace recorded = allocations(200'000, 100);
    separation_replay_settings settings;
    settings.timeout = std::chrono::milliseconds{0};
    separation_replay replay(recorded, settings);
    ASSERT_EQ(replay.error(), "");
    EXPECT_TRUE(replay.measure(ordinary, which_memory::all).empty());
    EXPECT_EQ(replay.error(), "a replay did not end within 0 s");
}

TEST(separation_replay, a_trace_that_does_not_fit_into_memory_is_refused) {
    made::program program;
    const std::uint64_t block = program.allocate(1);
    for (std::uint64_t i = 0; i < (1U << 20) - 1; ++i) program.resize(block, 1);
    const trace recorded = program.take();
    // 2 Mi operations of 24 bytes in the file and 16 in the plan.
    EXPECT_EQ(why_too_large_to_learn(recorded, std::uint64_t{80} << 20), "");
    const std::string why = why_too_large_to_learn(recorded, std::uint64_t{70} << 20);
    EXPECT_NE(why.find("learning from 1048576 events needs 79 MiB more, and this machine has 70 MiB available"),
              std::string::npos)
        << why;
    trace blocks;
    blocks.blocks = 1U << 20;
    EXPECT_NE(why_too_large_to_learn(blocks, std::uint64_t{39} << 20), "");
    EXPECT_EQ(why_too_large_to_learn(blocks, std::uint64_t{40} << 20), "");
}

TEST(separation_replay, a_share_is_of_the_calls_that_are_replayed_with_a_class) {
    const std::vector<site_figures> figures{{50, 0, 0}, {30, 0, 0}, {20, 0, 0}};
    EXPECT_DOUBLE_EQ(separated_share(figures, std::vector<std::uint8_t>{0, 2, 0}), 0.3);
    EXPECT_DOUBLE_EQ(separated_share(figures, std::vector<std::uint8_t>{}), 0);
    EXPECT_DOUBLE_EQ(separated_share({}, {}), 0);
}

}
