// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/tick_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace {

using namespace tenure::lab;

TEST(tick_clock, goes_forward) {
    const std::uint64_t before = ticks_before();
    EXPECT_GE(ticks_after(), before);
}

TEST(tick_clock, an_empty_measurement_costs_no_less_than_one_takes_and_no_more_than_microseconds) {
    const tick_length length;
    std::uint64_t least = ~std::uint64_t{0};
    for (int turn = 0; turn < 1000; ++turn) {
        const std::uint64_t begin = ticks_before();
        least = std::min(least, ticks_after() - begin);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    EXPECT_GT(tick_cost(), 0u);
    EXPECT_GE(static_cast<double>(tick_cost()), 0.5 * static_cast<double>(least)) << "a median, and this is the least";
    // A virtual machine that traps the instruction takes some microseconds for it.
    EXPECT_LT(static_cast<double>(tick_cost()) * length.ns(), 10e3);
    EXPECT_EQ(tick_cost(), tick_cost()) << "taken once";
}

TEST(tick_clock, agrees_with_the_systems_clock_about_a_sleep) {
    const tick_length length;
    const std::uint64_t begin = ticks_before();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    const double slept = static_cast<double>(ticks_after() - begin) * length.ns();
    EXPECT_GE(slept, 19e6);
    EXPECT_LT(slept, 20e9);
}

}
