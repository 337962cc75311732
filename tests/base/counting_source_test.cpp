// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/counting_source.hpp>

#include <gtest/gtest.h>

#include <tenure/base/static_buffer_source.hpp>
#include <tenure/platform/page_source.hpp>

namespace {

using tenure::counting_source;

TEST(counting_source, every_call_is_passed_on_and_counted) {
    counting_source counted(tenure::page_source::process());
    void* const first = counted.acquire(4096, 16);
    void* const second = counted.acquire(8192, 16);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(counted.requests(), 2u);
    EXPECT_EQ(counted.live_blocks(), 2u);
    EXPECT_EQ(counted.live_bytes(), 12288u);
    EXPECT_TRUE(counted.decommit(second, 8192));
    EXPECT_EQ(counted.decommitted_bytes(), 8192u);
    void* const moved = counted.remap(first, 4096, 65536, 4096);
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(counted.live_bytes(), 65536u + 8192u);
    void* const smaller = counted.remap(moved, 65536, 4096, 4096);
    ASSERT_NE(smaller, nullptr);
    EXPECT_EQ(counted.live_bytes(), 12288u);
    EXPECT_EQ(counted.peak_bytes(), 65536u + 8192u);
    counted.release(smaller, 4096);
    counted.release(second, 8192);
    EXPECT_EQ(counted.live_blocks(), 0u);
    EXPECT_EQ(counted.live_bytes(), 0u);
    EXPECT_EQ(counted.requests(), 4u);
}

TEST(counting_source, a_refusal_is_a_request_and_holds_nothing) {
    unsigned char buffer[64];
    tenure::static_buffer_source small_buffer(buffer, sizeof buffer);
    counting_source counted(small_buffer);
    EXPECT_EQ(counted.acquire(65, 1), nullptr);
    EXPECT_FALSE(counted.extend(buffer, 10, 65));
    EXPECT_EQ(counted.remap(buffer, 10, 20, 1), nullptr);
    EXPECT_FALSE(counted.decommit(buffer, 10));
    EXPECT_EQ(counted.requests(), 3u);
    EXPECT_EQ(counted.live_blocks(), 0u);
    EXPECT_EQ(counted.peak_bytes(), 0u);
    EXPECT_EQ(counted.decommitted_bytes(), 0u);
}

TEST(counting_source, it_is_as_large_and_as_shared_as_what_is_behind_it) {
    unsigned char buffer[64];
    tenure::static_buffer_source small_buffer(buffer, sizeof buffer);
    EXPECT_EQ(counting_source(small_buffer).max_bytes(), 64u);
    EXPECT_EQ(counting_source(small_buffer).threads(), tenure::sharing::one_thread);
    EXPECT_EQ(counting_source(tenure::page_source::process()).threads(), tenure::sharing::any_thread);
}

TEST(counting_source, a_block_that_shrinks_holds_less_and_a_question_is_no_request) {
    counting_source source(tenure::page_source::process());
    void* const block = source.acquire(16 * 4096, 16);
    EXPECT_TRUE(source.extend(block, 16 * 4096, 16 * 4096));
    EXPECT_EQ(source.requests(), 1u);
    EXPECT_TRUE(source.shrink(block, 16 * 4096, 4096));
    EXPECT_EQ(source.live_bytes(), 4096u);
    EXPECT_EQ(source.peak_bytes(), 16u * 4096);
    EXPECT_EQ(source.requests(), 1u);
    source.release(block, 4096);
    EXPECT_EQ(source.live_bytes(), 0u);
}

}
