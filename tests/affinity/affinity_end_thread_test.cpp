// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinity_group.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/platform/page_source.hpp>

namespace {

using tenure::affinity_group;

/// Threads that say that they are done and are then ending, while the group is trimmed, checked and configured.
TEST(affinity_ends, threads_may_be_ending_while_the_group_is_trimmed_or_configured) {
    affinity_group group("ending", {.threads = tenure::sharing::any_thread});
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> done{0};
        std::vector<std::thread> threads;
        for (int index = 0; index < 3; ++index) {
            threads.emplace_back([&] {
                std::vector<void*> objects;
                for (std::size_t count = 0; count < 50; ++count) objects.push_back(group.allocate(16 + count));
                for (void* const each : objects) group.deallocate(each);
                done.fetch_add(1);
            });
        }
        while (done.load() != 3) std::this_thread::yield();
        for (int often = 0; often < 100; ++often) {
            switch (round % 4) {
            case 0: static_cast<void>(group.trim()); break;
            case 1: EXPECT_TRUE(group.valid()); break;
            case 2: EXPECT_EQ(group.usage().live_count, 0u); break;
            default: EXPECT_TRUE(group.replace_with({})); break;
            }
        }
        for (std::thread& each : threads) each.join();
        static_cast<void>(group.trim());
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.configure({.block_bytes = std::size_t{1} << (20 + round % 2)}));
    }
}

}
