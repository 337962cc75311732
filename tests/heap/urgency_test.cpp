// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/purge/urgency.hpp>

#include <gtest/gtest.h>

#include "support/units.hpp"

namespace {

using support::second;
using tenure::detail::urgency;

constexpr std::size_t much = std::size_t{64} << 20;

/// Rounds twice a second; each urgent one returns `returned` bytes, of which `again` are requested again.
int urgent_rounds(urgency& tested, int seconds, std::uint64_t& now, std::size_t returned, std::size_t again,
                  bool (*is_short)(int round)) {
    int count = 0;
    std::size_t all_again = 0;
    for (int round = 0; round < 2 * seconds; ++round, now += second / 2) {
        if (!tested.begins(is_short(round), now, all_again)) continue;
        ++count;
        tested.ends(returned, all_again);
        all_again += again;
    }
    return count;
}
bool always(int) { return true; }
bool every_other(int round) { return round % 2 == 0; }

TEST(urgency, begins_when_memory_becomes_short) {
    urgency tested;
    EXPECT_FALSE(tested.begins(false, 10 * second, 0));
    EXPECT_TRUE(tested.begins(true, 11 * second, 0));
}

// An hour above nine tenths of the limit: once each at 0, 1, 3, 7 … 63 seconds, then once in 64 seconds.
TEST(urgency, comes_seldom_while_it_does_not_help) {
    urgency nothing_there, taken_at_once, flickering;
    std::uint64_t now = second;
    EXPECT_LE(urgent_rounds(nothing_there, 3600, now, 0, 0, &always), 64);
    EXPECT_LE(urgent_rounds(taken_at_once, 3600, now, much, much, &always), 64);
    EXPECT_LE(urgent_rounds(flickering, 3600, now, 0, 0, &every_other), 64);
}

TEST(urgency, goes_on_while_it_helps) {
    urgency tested;
    std::uint64_t now = second;
    EXPECT_GE(urgent_rounds(tested, 60, now, much, much / 2, &always), 59);
}

TEST(urgency, is_fresh_again_after_a_calm_time) {
    urgency tested;
    std::uint64_t now = second;
    urgent_rounds(tested, 600, now, 0, 0, &always);
    urgent_rounds(tested, 200, now, 0, 0, [](int) { return false; });
    EXPECT_TRUE(tested.begins(true, now, 0));
    EXPECT_TRUE(tested.begins(true, now + second, 0));
}

}
