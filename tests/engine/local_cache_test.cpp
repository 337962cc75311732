// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/local_cache.hpp>

#include <gtest/gtest.h>

namespace {

struct small_cache {
    tenure::detail::atomic<std::uint32_t> count{0};
    std::uint32_t capacity = 3;
    void* blocks[3] = {};
};

TEST(local_cache, the_newest_block_is_popped_first) {
    small_cache cache;
    int a = 0, b = 0;
    EXPECT_TRUE(tenure::detail::push(cache, &a));
    EXPECT_TRUE(tenure::detail::push(cache, &b));
    void* block = nullptr;
    ASSERT_TRUE(tenure::detail::pop(block, cache));
    EXPECT_EQ(block, &b);
    ASSERT_TRUE(tenure::detail::pop(block, cache));
    EXPECT_EQ(block, &a);
    EXPECT_EQ(cache.count, 0u);
}

TEST(local_cache, a_full_cache_takes_no_block_and_an_empty_one_has_none) {
    small_cache cache;
    int block = 0;
    void* popped = &popped;
    EXPECT_FALSE(tenure::detail::pop(popped, cache));
    EXPECT_EQ(popped, &popped) << "without a block the result is not written";
    for (int count = 0; count < 3; ++count) EXPECT_TRUE(tenure::detail::push(cache, &block));
    EXPECT_FALSE(tenure::detail::push(cache, &block));
    EXPECT_EQ(cache.count, 3u);
}

TEST(local_cache, a_capacity_below_the_count_takes_no_block) {
    small_cache cache;
    int block = 0;
    ASSERT_TRUE(tenure::detail::push(cache, &block));
    cache.capacity = 0; // as for the caches of owner tags
    EXPECT_FALSE(tenure::detail::push(cache, &block));
}

}
