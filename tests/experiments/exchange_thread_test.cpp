// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/shared/exchange.hpp"

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

#include "bench/experiments/pools/pools.hpp"
#include "bench/harness/page_array.hpp"
#include "experiments/kept_recorder.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

struct process_malloc {
    void* allocate() { return std::malloc(16); }
    void deallocate(void* block) { std::free(block); }
    void end_batch(std::size_t) {}
};

struct temp_job_blocks {
    void* allocate() { return tenure::allocate(16, tenure::lifetime::temp_job); }
    void deallocate(void* block) { tenure::deallocate(block, 16, tenure::lifetime::temp_job); }
    void end_batch(std::size_t thread) {
        if (thread == 0) tenure::next_frame();
    }
};

/// Hands out the same block twice, now and then.
struct careless {
    void* allocate() {
        if (++calls % 100 != 0) next = (next + 16) % blocks.size();
        return blocks.data() + next;
    }
    void deallocate(void*) {}
    void end_batch(std::size_t) {}
    int calls = 0;
    std::size_t next = 0;
    page_array<char> blocks{16 * 4 * exchange_blocks};
};

TEST(exchange, every_block_arrives_as_it_was_written) {
    process_malloc shared;
    std::size_t shown = 0;
    const auto found = run_exchange(1, {16, 16}, shared, shared, [&](std::span<void*> live) { shown = live.size(); });
    EXPECT_EQ(found.fault, "");
    EXPECT_GT(found.block_ns, 0);
    EXPECT_EQ(shown, exchange_blocks);
}

TEST(exchange, the_hand_over_alone_works_without_an_allocator) {
    blocks_from_before ours(4), theirs(4);
    EXPECT_EQ(run_exchange(1, {4, 4}, ours, theirs, [](std::span<void*>) {}).fault, "");
}

TEST(exchange, temp_job_passes_with_a_batch_for_a_frame) {
    temp_job_blocks shared;
    EXPECT_EQ(run_exchange(1, {16, 16}, shared, shared, [](std::span<void*>) {}).fault, "");
}

TEST(exchange, a_block_that_is_given_out_twice_is_seen) {
    careless ours, theirs;
    EXPECT_NE(run_exchange(1, {16, 16}, ours, theirs, [](std::span<void*>) {}).fault, "");
}

/// Blocks of a range, `stride` bytes apart.
struct strided {
    void* allocate() {
        void* const block = first + next * stride;
        next = (next + 1) % (2 * exchange_blocks);
        return block;
    }
    void deallocate(void*) {}
    void end_batch(std::size_t) {}
    char* first;
    std::size_t stride;
    std::size_t next = 0;
};

TEST(exchange, blocks_that_overlap_behind_their_stamps_are_seen) {
    const page_array<char> here(64 * 4 * exchange_blocks), there(64 * 4 * exchange_blocks);
    strided narrow_here{here.data(), 16}, narrow_there{there.data(), 16};
    EXPECT_EQ(run_exchange(1, {24, 8}, narrow_here, narrow_there, [](std::span<void*>) {}).fault,
              "two blocks overlapped");
    EXPECT_EQ(run_exchange(1, {16, 16}, narrow_here, narrow_there, [](std::span<void*>) {}).fault, "");
}

TEST(exchange, blocks_that_are_not_aligned_are_seen) {
    const page_array<char> here(64 * 4 * exchange_blocks), there(64 * 4 * exchange_blocks);
    strided one{here.data(), 24}, other{there.data(), 24};
    EXPECT_EQ(run_exchange(1, {24, 16}, one, other, [](std::span<void*>) {}).fault,
              "a block did not have the requested alignment");
    EXPECT_EQ(run_exchange(1, {24, 8}, one, other, [](std::span<void*>) {}).fault, "");
}

TEST(exchange, blocks_of_one_thread_that_lie_in_those_of_the_other_are_seen) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "it sees the same, and reports it first";
    const page_array<char> shared(64 * 4 * exchange_blocks);
    strided ours{shared.data(), 32}, theirs{shared.data() + 16, 32};
    EXPECT_EQ(run_exchange(1, {24, 8}, ours, theirs, [](std::span<void*>) {}).fault, wrong_contents);
}

TEST(exchange, a_fault_fails_the_part_and_leaves_no_figure) {
    const page_array<char> here(64 * 4 * exchange_blocks), there(64 * 4 * exchange_blocks);
    strided one{here.data(), 16}, other{there.data(), 16};
    kept_recorder found;
    parameters options(pools_experiment.options);
    options.set("exchange-groups", 1);
    measure_exchange({options, 5, 0, found}, "v", {24, 8}, one, other);
    EXPECT_EQ(found.failure, "two blocks overlapped");
    EXPECT_TRUE(found.values.empty());
}

TEST(exchange, a_part_says_where_its_threads_ran) {
    process_malloc shared;
    kept_recorder found;
    parameters options(pools_experiment.options);
    options.set("exchange-groups", 1);
    measure_exchange({options, 5, 0, found}, "v", {16, 16}, shared, shared);
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(found.values.count("with the hand-over, v"), 1u);
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find("threads"), std::string::npos) << found.notes[0];
}

TEST(exchange, a_difference_below_zero_is_told_as_it_is) {
    constexpr std::array<double, 3> with{10, 11, 30}, alone{12, 12, 5};
    EXPECT_DOUBLE_EQ(median_difference(with, alone), -1);
}

TEST(exchange, where_the_threads_ran_is_said_in_words) {
    EXPECT_EQ(where_they_ran({-1, 0}), "the two threads did not each stay on one CPU");
    EXPECT_EQ(where_they_ran({3, 3}), "both threads ran on CPU 3");
    const std::string two = where_they_ran({1, 0});
    EXPECT_EQ(two.find("the two threads ran on CPUs 1 and 0, "), 0u) << two;
    EXPECT_NE(two.find("the kernel"), std::string::npos) << two;
}

}
