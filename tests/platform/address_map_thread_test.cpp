// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/address_map.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

namespace {

using tenure::pointer_at;
using tenure::platform::address_map;

constinit address_map addresses{};

TEST(address_map, threads_that_share_leaves_lose_nothing_of_each_other) {
    constexpr std::size_t thread_count = 4;
    constexpr std::uintptr_t piece = address_map::piece_bytes;
    constexpr std::size_t pieces = 40'000; // two leaves: the threads meet when each is made
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            while (!go) std::this_thread::yield();
            // Every fourth piece is this thread's, and of those every other one stays.
            for (std::size_t mine = index; mine < pieces; mine += thread_count) {
                ASSERT_TRUE(addresses.set(pointer_at(mine * piece), &addresses));
                if (mine / thread_count % 2 == 1) addresses.erase(pointer_at(mine * piece));
            }
        });
    }
    go = true;
    for (std::thread& each : threads) each.join();
    for (std::size_t each = 0; each < pieces; ++each)
        ASSERT_EQ(addresses.contains(pointer_at(each * piece)), each / thread_count % 2 == 0) << each;
}

}
