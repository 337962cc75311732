// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/failing_source.hpp>

#include <gtest/gtest.h>

#include <tenure/base/static_buffer_source.hpp>
#include <tenure/platform/page_source.hpp>

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

TEST(failing_source, a_question_and_a_shrink_go_through_when_nothing_else_does) {
    tenure::failing_source source(tenure::page_source::process(), 1);
    void* const block = source.acquire(4 * 4096, 16);
    EXPECT_TRUE(source.extend(block, 4 * 4096, 4 * 4096));
    EXPECT_FALSE(source.extend(block, 4 * 4096, 8 * 4096));
    EXPECT_EQ(source.refused(), 1u);
    EXPECT_TRUE(source.shrink(block, 4 * 4096, 4096));
    source.release(block, 4096);
}

}
