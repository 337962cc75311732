// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/owner_home.hpp>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(owner_homes_of_threads, threads_that_ask_at_the_same_time_get_one_home) {
    for (int round = 0; round < 50; ++round) {
        int owner = 0;
        tenure::detail::owner_link link;
        std::array<tenure::detail::owner_home*, 4> got{};
        std::atomic<int> waiting{0};
        std::vector<std::thread> threads;
        for (auto& mine : got) {
            threads.emplace_back([&] {
                ++waiting;
                while (waiting.load() < 4) std::this_thread::yield();
                mine = link.of(&owner, "heap");
                EXPECT_EQ(mine->owner, &owner);
            });
        }
        for (auto& each : threads) each.join();
        for (const auto* each : got) EXPECT_EQ(each, got[0]);
    }
}

TEST(owner_homes_of_threads, owners_of_each_thread_come_and_go) {
    std::vector<std::thread> threads;
    for (int count = 0; count < 4; ++count) {
        threads.emplace_back([] {
            for (int round = 0; round < 1000; ++round) {
                int owner = 0;
                tenure::detail::owner_link link;
                const auto* const home = link.of(&owner, "arena");
                ASSERT_EQ(home->owner, &owner);
            }
        });
    }
    for (auto& each : threads) each.join();
}

}
