// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include <tenure/platform/mutex.hpp>

namespace {

using namespace tenure;

TEST(mutex, one_thread_at_a_time_is_inside) {
    platform::mutex lock;
    constexpr int threads = 4, turns = 50'000;
    long count = 0;
    std::vector<std::thread> all;
    for (int each = 0; each < threads; ++each) {
        all.emplace_back([&] {
            for (int turn = 0; turn < turns; ++turn) {
                const platform::lock_guard guard(lock);
                const long before = count;
                if (turn % 1000 == 0) std::this_thread::yield(); // others go to sleep meanwhile
                count = before + 1;
            }
        });
    }
    for (std::thread& each : all) each.join();
    EXPECT_EQ(count, long{threads} * turns);
}

TEST(mutex, a_thread_knows_whether_it_holds_it) {
    platform::mutex lock;
    EXPECT_FALSE(lock.is_mine());
    lock.lock();
    EXPECT_TRUE(lock.is_mine());
    std::thread{[&] { EXPECT_FALSE(lock.is_mine()); }}.join();
    lock.unlock();
    EXPECT_FALSE(lock.is_mine());
}

TEST(mutex, a_holder_that_others_wait_for_still_knows) {
    platform::mutex lock;
    lock.lock();
    std::thread other{[&] { const platform::lock_guard guard(lock); }};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    EXPECT_TRUE(lock.is_mine());
    lock.unlock();
    other.join();
    EXPECT_FALSE(lock.is_mine());
}

TEST(mutex, a_thread_that_would_wait_for_itself_ends_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    platform::mutex lock;
    lock.lock();
    EXPECT_DEATH(lock.lock(), "interrupted another call of the same thread, which holds the lock");
    lock.unlock();
}

TEST(mutex, is_free_in_the_child_of_a_fork_once_abandoned) {
    platform::mutex lock;
    std::thread{[&] { lock.lock(); }}.join();
    lock.abandon();
    lock.lock();
    EXPECT_TRUE(lock.is_mine());
    lock.unlock();
}

}
