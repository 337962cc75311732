// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Blocks that go from thread to thread: none is lost, none freed twice, nobody waits for good.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include <tenure/heap/budget.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "bench/experiments/heap/heap_workload.hpp"
#include "bench/experiments/latency/latency_workload.hpp"
#include "bench/experiments/shared/crowd.hpp"
#include "bench/harness/page_array.hpp"
#include "experiments/broken_heaps.hpp"
#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

/// malloc, with a count of what is alive.
struct counting_malloc {
    void* allocate(std::size_t bytes) {
        alive.fetch_add(1, std::memory_order_relaxed);
        return std::malloc(bytes);
    }
    void deallocate(void* block, std::size_t) {
        alive.fetch_sub(1, std::memory_order_relaxed);
        std::free(block);
    }
    bool trim() { return true; }
    static inline std::atomic<std::ptrdiff_t> alive{0};
};

/// Every block after the one before, eight bytes beside where it should lie.
struct askew_bump {
    void* allocate(std::size_t bytes) { return memory.data() + next.fetch_add(tenure::align_up(bytes, 16)) + 8; }
    void deallocate(void*, std::size_t) {}
    bool trim() { return false; }
    page_array<char> memory{std::size_t{64} << 20};
    std::atomic<std::size_t> next{0};
};

held_block numbered(std::uint32_t number) { return {nullptr, number, number}; }

TEST(block_queue, hands_on_what_was_published_in_order_and_no_more) {
    block_queue queue;
    held_block got;
    EXPECT_FALSE(queue.take(got));
    EXPECT_TRUE(queue.put(numbered(1)));
    EXPECT_FALSE(queue.take(got)) << "not published yet";
    EXPECT_TRUE(queue.put(numbered(2)));
    queue.publish();
    ASSERT_TRUE(queue.take(got));
    EXPECT_EQ(got.stamp, 1u);
    ASSERT_TRUE(queue.take(got));
    EXPECT_EQ(got.stamp, 2u);
    EXPECT_FALSE(queue.take(got));
}

TEST(block_queue, is_full_at_its_capacity_and_then_has_published_everything) {
    block_queue queue;
    for (std::uint32_t i = 0; i < block_queue::capacity; ++i) ASSERT_TRUE(queue.put(numbered(i))) << i;
    EXPECT_FALSE(queue.put(numbered(0)));
    held_block got;
    for (std::uint32_t i = 0; i < block_queue::capacity; ++i) {
        ASSERT_TRUE(queue.take(got)) << i;
        EXPECT_EQ(got.stamp, i);
    }
    EXPECT_FALSE(queue.take(got)); // which tells the writer how far it is
    EXPECT_TRUE(queue.put(numbered(0)));
}

TEST(crowd, every_block_that_is_sent_is_freed_once_by_the_next_thread) {
    constexpr std::uint32_t each = 20'000; // several times the room of a queue
    constexpr std::size_t threads = 3;
    crowd all(threads);
    std::array<std::uint64_t, threads> sums{};
    {
        std::vector<std::jthread> running;
        for (std::size_t index = 0; index < threads; ++index) {
            running.emplace_back([&, index] {
                crowd_member member(all, index);
                const auto add = [&](const held_block& come) { sums[index] += come.stamp; };
                for (int pass = 0; pass < 2; ++pass) {
                    member.meet();
                    for (std::uint32_t i = 1; i <= each; ++i) {
                        member.send(numbered(static_cast<std::uint32_t>(index) * 1'000'000 + i), add);
                    }
                    member.end_pass(add);
                }
                EXPECT_TRUE(member.all_sound([] { return true; }));
            });
        }
    }
    const std::uint64_t numbers = std::uint64_t{each} * (each + 1) / 2;
    for (std::size_t index = 0; index < threads; ++index) {
        const std::size_t from = (index + threads - 1) % threads;
        EXPECT_EQ(sums[index], 2 * (numbers + from * 1'000'000 * each)) << index;
    }
}

TEST(crowd, one_thread_alone_needs_nobody) {
    crowd all(1);
    crowd_member member(all, 0);
    const auto nothing = [](const held_block&) {};
    member.settle();
    member.meet();
    member.end_pass(nothing);
    EXPECT_FALSE(member.all_sound([] { return false; }));
}

kept_recorder run_few(const experiment& chosen, void (*run)(const task&), std::size_t part, std::int64_t threads = 2) {
    kept_recorder found;
    parameters options(chosen.options);
    for (const auto& [name, value] :
         std::initializer_list<std::pair<std::string_view, std::int64_t>>{{"live", 500},
                                                                          {"steps", 5000},
                                                                          {"passes", 3},
                                                                          {"threads", threads},
                                                                          {"remote-percent", 50},
                                                                          {"blocks", 10'000},
                                                                          {"samples", 20'000}}) {
        for (const option_spec& option : chosen.options) {
            if (option.name == name) options.set(name, value);
        }
    }
    run({options, 5, part, found});
    return found;
}

TEST(heap_threads, leave_nothing_alive_and_say_where_they_ran) {
    const kept_recorder found = run_few(heap_experiment, run_heap<counting_malloc>, heap_part::threads);
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(counting_malloc::alive, 0);
    EXPECT_EQ(found.shown, 2 * 500u) << "the blocks of both are looked at together";
    EXPECT_GT(found.values.at("in turn, own blocks, 16 to 512 B, 2 threads"), 0);
    EXPECT_GT(found.values.at("in turn, 50 % freed by another, 16 to 512 B, 2 threads"), 0);
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find("threads"), std::string::npos) << found.notes[0];
}

TEST(heap_threads, may_be_more_than_two) {
    const kept_recorder found = run_few(heap_experiment, run_heap<counting_malloc>, heap_part::threads, 4);
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(counting_malloc::alive, 0);
    EXPECT_EQ(found.shown, 4 * 500u);
}

TEST(heap_threads, a_consumer_frees_all_that_a_producer_allocates) {
    const kept_recorder found = run_few(heap_experiment, run_heap<counting_malloc>, heap_part::producer_consumer);
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(counting_malloc::alive, 0);
    EXPECT_GT(found.values.at("through both, 16 to 512 B, producer and consumer"), 0);
}

TEST(heap_threads, pass_with_our_own_heap) {
    for (const std::size_t part : {heap_part::threads, heap_part::producer_consumer}) {
        const kept_recorder found = run_few(heap_experiment, tenure_in_heap().front().run, part);
        EXPECT_EQ(found.failure, "") << part;
        EXPECT_EQ(found.query, "heap::owns") << part;
    }
}

TEST(heap_threads, pass_under_one_tag_and_one_budget) {
    ASSERT_EQ(tenure_in_heap().size(), 3u);
    for (const contestant& row : tenure_in_heap().subspan(1)) {
        EXPECT_EQ(row.parts, heap_part::bit(heap_part::mixed_threads)) << row.name;
        const tenure::tag owner("one of all threads");
        const kept_recorder found = run_few(heap_experiment, row.run, heap_part::mixed_threads);
        EXPECT_EQ(found.failure, "") << row.name;
        EXPECT_GT(found.values.at("in turn, own blocks, 8 to 16000 B, 2 threads"), 0) << row.name;
        EXPECT_EQ(tenure::usage_of(owner).persistent_count, 0u) << row.name;
        const bool has_budget = tenure::budget_of(owner).limit_bytes != SIZE_MAX;
        EXPECT_EQ(has_budget, row.name.ends_with("budget)")) << row.name;
        tenure::set_budget(owner, {});
    }
}

TEST(heap_threads, blocks_that_are_not_aligned_fail_the_part_and_end_it) {
    constexpr std::string_view askew = "a block did not have the requested alignment";
    for (const std::size_t part : {heap_part::threads, heap_part::producer_consumer}) {
        const kept_recorder found = run_few(heap_experiment, run_heap<askew_bump>, part);
        EXPECT_EQ(found.failure, askew) << part;
        EXPECT_TRUE(found.values.empty()) << part;
    }
}

TEST(latency_threads, time_the_calls_of_both) {
    const kept_recorder found = run_few(latency_experiment, run_latency<counting_malloc>, latency_part::two_threads);
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(counting_malloc::alive, 0);
    EXPECT_EQ(found.shown, 2 * 500u);
    EXPECT_GE(found.values.at("worst, free, two threads"), found.values.at("p50, free, two threads"));
}

}
