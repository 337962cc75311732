// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Threads that replace blocks of all sizes and free each other's, while the background thread returns memory: for as
// many operations as TENURE_TEST_OPERATIONS says.

#include <tenure/heap/heap.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>

#include "support/random.hpp"

namespace {

using tenure::heap;

std::uint64_t operations() {
    std::uint64_t wanted = tenure::checks::caller ? 400'000 : 4'000'000;
    if (const char* const given = std::getenv("TENURE_TEST_OPERATIONS"); given != nullptr) {
        const std::string_view text = given;
        std::from_chars(text.data(), text.data() + text.size(), wanted);
    }
    return wanted;
}

/// A block that knows its size and its number, at both ends.
struct stamped {
    std::uint64_t bytes, number;
};
constexpr std::size_t least_bytes = 2 * sizeof(stamped);

stamped* make(heap& from, std::size_t bytes, std::uint64_t number) {
    auto* const made = static_cast<stamped*>(from.allocate(bytes));
    if (made == nullptr) return nullptr;
    *made = {bytes, number};
    std::memcpy(reinterpret_cast<char*>(made) + bytes - sizeof number, &number, sizeof number);
    return made;
}

/// Returns   whether the block was whole.
bool drop(heap& to, stamped* block) {
    if (block == nullptr) return true;
    std::uint64_t at_end = 0;
    std::memcpy(&at_end, reinterpret_cast<char*>(block) + block->bytes - sizeof at_end, sizeof at_end);
    const bool is_whole = at_end == block->number;
    to.deallocate(block);
    return is_whole;
}

/// Mostly small, sometimes up to 32 KiB, seldom larger.
std::size_t long_run_bytes(support::random& numbers) {
    const std::uint64_t kind = numbers.below(1000);
    if (kind < 900) return least_bytes + numbers.below(500);
    if (kind < 998) return least_bytes + numbers.below(32'000);
    return least_bytes + numbers.below(400'000);
}

TEST(heap_long_run, every_block_stays_whole_and_the_heap_valid) {
    constexpr std::size_t thread_count = 2, slots = 4000;
    heap tested({.purge_delay_ns = 50'000'000});
    std::array<std::atomic<stamped*>, 64> handed{};
    std::atomic<std::uint64_t> broken{0};
    const std::uint64_t each = operations() / 2 / thread_count; // a replacement is two operations
    const std::uint64_t seed = support::new_seed();
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < thread_count; ++thread) {
        threads.emplace_back([&, thread] {
            support::random numbers(seed + thread);
            std::vector<stamped*> mine(slots);
            for (std::uint64_t step = 0; step < each; ++step) {
                stamped*& slot = mine[numbers.below(slots)];
                if (step % 16 == 0) {
                    slot = handed[numbers.below(handed.size())].exchange(slot);
                    continue;
                }
                if (!drop(tested, slot)) ++broken;
                slot = make(tested, long_run_bytes(numbers), step);
                if (step % 1'000'000 != 1) continue;
                for (std::size_t at = 0; at < slots; at += 1 + numbers.below(2)) { // a valley: something to return
                    if (!drop(tested, mine[at])) ++broken;
                    mine[at] = nullptr;
                }
            }
            for (stamped* const block : mine) {
                if (!drop(tested, block)) ++broken;
            }
        });
    }
    for (std::thread& one : threads) one.join();
    for (const auto& block : handed) {
        if (!drop(tested, block)) ++broken;
    }
    EXPECT_EQ(broken, 0u);
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_TRUE(tested.valid());
}

}
