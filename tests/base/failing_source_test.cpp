// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/failing_source.hpp>

#include <gtest/gtest.h>

#include <tenure/base/static_buffer_source.hpp>

namespace {

TEST(failing_source, as_many_requests_as_allowed_go_through) {
    alignas(64) unsigned char buffer[1024];
    tenure::static_buffer_source behind(buffer, sizeof buffer);
    tenure::failing_source failing(behind, 2);
    void* const first = failing.acquire(100, 1);
    ASSERT_NE(first, nullptr);
    EXPECT_TRUE(failing.extend(first, 100, 200));
    EXPECT_EQ(failing.acquire(100, 1), nullptr);
    EXPECT_FALSE(failing.extend(first, 200, 300));
    EXPECT_EQ(failing.remap(first, 200, 300, 1), nullptr);
    EXPECT_EQ(failing.refused(), 3u);
    EXPECT_EQ(behind.used_bytes(), 200u);
    failing.allow(1);
    EXPECT_NE(failing.acquire(100, 1), nullptr);
    EXPECT_EQ(failing.acquire(100, 1), nullptr);
    EXPECT_EQ(failing.refused(), 4u);
    failing.release(first, 200);
    EXPECT_EQ(failing.max_bytes(), 1024u);
    EXPECT_EQ(failing.threads(), tenure::sharing::one_thread);
}

}
