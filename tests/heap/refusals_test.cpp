// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/purge/refusals.hpp>

#include <gtest/gtest.h>

#include "support/units.hpp"

namespace {

using support::second;
using tenure::detail::refusals;

TEST(refusals, wait_twice_as_long_each_time_up_to_a_minute) {
    refusals tested;
    for (const std::uint64_t seconds : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 64U})
        EXPECT_EQ(tested.next_wait_ns(), seconds * second);
}

TEST(refusals, have_no_last_attempt) {
    refusals tested;
    for (int each = 0; each < 1000; ++each) ASSERT_LE(tested.next_wait_ns(), refusals::longest_wait_ns) << each;
}

TEST(refusals, are_forgotten_after_a_start) {
    refusals tested;
    for (int each = 0; each < 10; ++each) static_cast<void>(tested.next_wait_ns());
    tested.forget();
    EXPECT_EQ(tested.next_wait_ns(), second);
}

}
