// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <cstring>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

#include "support/address_space.hpp"
#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;

namespace platform = tenure::platform;

TEST(address_limit, a_range_that_fits_is_aligned_without_room_for_its_ends) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers need addresses of their own";
    for (const std::size_t alignment : {2 * mebibyte, 32 * mebibyte, 1024 * mebibyte}) {
        const support::address_limit limit(40 * mebibyte);
        void* const range = platform::map(32 * mebibyte, alignment);
        ASSERT_NE(range, nullptr);
        EXPECT_TRUE(tenure::is_aligned(range, alignment));
        std::memset(range, 1, mebibyte);
        EXPECT_EQ(platform::map(32 * mebibyte, alignment), nullptr);
        platform::unreserve(range, 32 * mebibyte);
        void* const reserved = platform::reserve(32 * mebibyte, alignment);
        EXPECT_NE(reserved, nullptr) << "what was refused has left nothing behind";
        platform::unreserve(reserved, 32 * mebibyte);
    }
}

}
