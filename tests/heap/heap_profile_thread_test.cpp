// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap_profile.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/profile/sample_index.hpp>
#include <tenure/heap/heap.hpp>

#include "support/heap_profile_file.hpp"
#include "support/random.hpp"

namespace {

using tenure::heap;
using tenure::heap_profile;
using tenure::status;

/// Allocates and frees blocks of several sizes, half of them another thread's, until it is told to end.
void work(std::atomic<bool>& is_over, std::mutex& lock, std::vector<void*>& shared, std::size_t seed) {
    support::random numbers(seed);
    std::vector<void*> mine;
    while (!is_over.load(std::memory_order_relaxed)) {
        const std::size_t bytes = numbers.one_in(200) ? 40'000 : 8 + numbers.below(2000);
        const tenure::tag_scope scope(numbers.one_in(3) ? tenure::tag::named("profiled thread") : tenure::tag());
        mine.push_back(heap::process().allocate(bytes));
        if (mine.size() > 100) {
            const std::lock_guard hold(lock);
            mine.swap(shared);
        }
        if (!mine.empty() && numbers.one_in(2)) {
            heap::process().deallocate(mine.back());
            mine.pop_back();
        }
    }
    for (void* const block : mine) heap::process().deallocate(block);
}

// Starts, saves and stops while threads are at work on each other's blocks: nothing is lost, and what is saved is
// whole.
TEST(profiles_of_threads, start_and_stop_while_others_work) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap's blocks are malloc's";
    constexpr std::size_t thread_count = 3;
    std::atomic<bool> is_over{false};
    std::mutex lock;
    std::vector<void*> shared;
    const std::size_t live_before = heap::process().stats().live_count;
    std::vector<std::thread> threads;
    for (std::size_t each = 0; each < thread_count; ++each)
        threads.emplace_back([&, each] { work(is_over, lock, shared, each + 1); });
    const std::string path =
        testing::TempDir() + "heap_profile_thread_test." + std::to_string(::getpid()) + ".heapprofile";
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(heap_profile::start(round % 2 == 0 ? 1 : 10'000), status::ok);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ASSERT_EQ(heap_profile::save(path), status::ok);
        support::heap_profile_file file;
        support::read_heap_profile(path, file);
        EXPECT_TRUE(file.is_whole);
        ASSERT_EQ(heap_profile::stop(), status::ok);
    }
    is_over.store(true);
    for (std::thread& each : threads) each.join();
    for (void* const block : shared) heap::process().deallocate(block);
    std::remove(path.c_str());
    EXPECT_TRUE(heap::process().valid());
    EXPECT_EQ(heap::process().stats().live_count, live_before);
}

TEST(profiles_of_threads, blocks_that_others_free_leave_the_profile) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap's blocks are malloc's";
    std::atomic<bool> is_over{false};
    std::mutex lock;
    std::vector<void*> shared;
    ASSERT_EQ(heap_profile::start(1000), status::ok);
    std::vector<std::thread> threads;
    for (std::size_t each = 0; each < 3; ++each)
        threads.emplace_back([&, each] { work(is_over, lock, shared, each + 10); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    is_over.store(true);
    for (std::thread& each : threads) each.join();
    for (void* const block : shared) heap::process().deallocate(block);
    const std::string path =
        testing::TempDir() + "heap_profile_thread_test." + std::to_string(::getpid()) + ".heapprofile";
    ASSERT_EQ(heap_profile::save(path), status::ok);
    support::heap_profile_file file;
    support::read_heap_profile(path, file);
    std::remove(path.c_str());
    EXPECT_EQ(file.live.size(), 0u);
    ASSERT_EQ(heap_profile::stop(), status::ok);
}

// A look-up of an own block never misses it while another thread moves entries.
TEST(sample_index_of_threads, contains_while_another_thread_changes_it) {
    static tenure::detail::sample_index index; // lives as long as the process
    std::mutex lock;
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        support::random numbers(1);
        while (!is_over.load(std::memory_order_relaxed)) {
            const auto* const block = tenure::pointer_at((numbers.below(3000) * 2 + 2) * 64);
            const std::lock_guard hold(lock);
            if (numbers.one_in(2)) {
                EXPECT_TRUE(index.set(block, 1));
            } else {
                index.remove(block);
            }
        }
    });
    support::random numbers(2);
    for (int step = 0; step < 20'000; ++step) {
        const auto* const block = tenure::pointer_at((numbers.below(1000) * 2 + 1) * 64);
        {
            const std::lock_guard hold(lock);
            EXPECT_TRUE(index.set(block, 2));
        }
        EXPECT_TRUE(index.contains(block));
        const std::lock_guard hold(lock);
        EXPECT_EQ(index.remove(block), 2u);
    }
    is_over.store(true);
    other.join();
}

}
