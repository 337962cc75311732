// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "harness/tick_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

using namespace tenure::lab;

TEST(tick_clock, goes_forward) {
    std::uint64_t const before = ticks_before();
    EXPECT_GE(ticks_after(), before);
}

TEST(tick_clock, an_empty_measurement_costs_less_than_a_microsecond) {
    tick_length const length;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    EXPECT_LT(static_cast<double>(tick_cost()) * length.ns(), 1000);
}

TEST(tick_clock, agrees_with_the_systems_clock_about_a_sleep) {
    tick_length const length;
    std::uint64_t const begin = ticks_before();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    double const slept = static_cast<double>(ticks_after() - begin) * length.ns();
    EXPECT_GE(slept, 19e6);
    EXPECT_LT(slept, 20e9);
}

}
