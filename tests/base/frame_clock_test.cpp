// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/frame_clock.hpp>

#include <gtest/gtest.h>

namespace {

TEST(frame_clock, each_frame_counts_one_more) {
    const std::uint64_t before = tenure::frame_clock::now();
    EXPECT_EQ(tenure::frame_clock::now(), before);
    EXPECT_EQ(tenure::frame_clock::advance(), before + 1);
    EXPECT_EQ(tenure::frame_clock::now(), before + 1);
}

}
