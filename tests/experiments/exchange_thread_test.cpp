// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "experiments/exchange.hpp"

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

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
    auto const found = run_exchange(1, shared, shared, [&](std::span<void*> live) { shown = live.size(); });
    EXPECT_TRUE(found.intact);
    EXPECT_GT(found.block_ns, 0);
    EXPECT_EQ(shown, exchange_blocks);
}

TEST(exchange, the_hand_over_alone_works_without_an_allocator) {
    blocks_from_before ours(4), theirs(4);
    EXPECT_TRUE(run_exchange(1, ours, theirs, [](std::span<void*>) {}).intact);
}

TEST(exchange, temp_job_passes_with_a_batch_for_a_frame) {
    temp_job_blocks shared;
    EXPECT_TRUE(run_exchange(1, shared, shared, [](std::span<void*>) {}).intact);
}

TEST(exchange, a_block_that_is_given_out_twice_is_seen) {
    careless ours, theirs;
    EXPECT_FALSE(run_exchange(1, ours, theirs, [](std::span<void*>) {}).intact);
}

}
