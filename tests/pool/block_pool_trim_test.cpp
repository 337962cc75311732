// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/pool/block_pool.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::block_pool;

std::vector<unsigned char*> take(block_pool& pool, std::size_t count) {
    std::vector<unsigned char*> blocks;
    while (blocks.size() < count) {
        blocks.push_back(static_cast<unsigned char*>(pool.allocate()));
        std::memset(blocks.back(), static_cast<int>(blocks.size()), pool.block_bytes());
    }
    return blocks;
}

TEST(block_pool_trim, an_empty_pool_gives_back_everything) {
    tenure::counting_source source(tenure::page_source::process());
    block_pool pool(64, 16, mebibyte, source);
    for (unsigned char* each : take(pool, 100'000)) pool.deallocate(each);
    const std::size_t held = source.live_bytes();
    EXPECT_GT(held, 6 * mebibyte);
    EXPECT_EQ(pool.trim(), held);
    EXPECT_EQ(source.live_blocks(), 0u);
    EXPECT_TRUE(pool.valid());
    EXPECT_EQ(take(pool, 100).size(), 100u);
    EXPECT_EQ(pool.size(), 100u);
}

TEST(block_pool_trim, what_nothing_was_done_with_since_is_not_given_back_again) {
    tenure::counting_source source(tenure::page_source::process());
    block_pool pool(64, 16, mebibyte, source);
    std::vector<unsigned char*> blocks = take(pool, 100'000);
    for (std::size_t index = 1; index < blocks.size(); ++index) {
        if (index % 1000 != 0) pool.deallocate(blocks[index]);
    }
    EXPECT_GT(pool.trim(), 5 * mebibyte);
    const std::size_t decommitted = source.decommitted_bytes();
    EXPECT_EQ(pool.trim(), 0u);
    EXPECT_EQ(source.decommitted_bytes(), decommitted);
    pool.deallocate(blocks[1000]); // its segment alone is looked at again
    const std::size_t given_back = pool.trim();
    EXPECT_GT(given_back, 0u);
    EXPECT_LE(given_back, mebibyte);
    EXPECT_EQ(pool.trim(), 0u);
    unsigned char* const fresh = take(pool, 1).front();
    pool.deallocate(fresh);
    EXPECT_GT(pool.trim(), 0u) << "a page was touched";
    EXPECT_TRUE(pool.valid());
}

TEST(block_pool_trim, a_cleared_pool_gives_back_everything) {
    tenure::counting_source source(tenure::page_source::process());
    block_pool pool(64, 16, mebibyte, source);
    static_cast<void>(take(pool, 100'000));
    pool.clear();
    pool.trim();
    EXPECT_EQ(source.live_blocks(), 0u);
}

TEST(block_pool_trim, what_is_alive_keeps_its_contents_and_the_pages_between_go) {
    tenure::counting_source source(tenure::page_source::process());
    block_pool pool(64, 16, mebibyte, source);
    std::vector<unsigned char*> blocks = take(pool, 100'000);
    std::vector<unsigned char*> kept;
    for (std::size_t index = 0; index < blocks.size(); ++index) {
        if (index % 1000 == 0) {
            std::memset(blocks[index], 0x3C, 64);
            kept.push_back(blocks[index]);
        } else {
            pool.deallocate(blocks[index]);
        }
    }
    const std::size_t given_back = pool.trim();
    EXPECT_GT(source.decommitted_bytes(), 100'000u * 64 / 2);
    EXPECT_GE(given_back, source.decommitted_bytes());
    EXPECT_EQ(pool.size(), kept.size());
    for (unsigned char* each : kept) {
        for (int index = 0; index < 64; ++index) ASSERT_EQ(each[index], 0x3C);
    }
    EXPECT_TRUE(pool.valid());
    static_cast<void>(take(pool, 50'000));
    EXPECT_EQ(pool.size(), kept.size() + 50'000);
    for (unsigned char* each : kept) ASSERT_EQ(each[63], 0x3C);
    EXPECT_TRUE(pool.valid());
}

TEST(block_pool_trim, memory_really_leaves_the_process) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's own memory is counted too";
    const std::size_t before = tenure::platform::resident_bytes();
    block_pool pool(64);
    const std::vector<unsigned char*> blocks = take(pool, mebibyte);
    const std::size_t full = tenure::platform::resident_bytes();
    EXPECT_GT(full, before + 64 * mebibyte);
    for (std::size_t index = 1; index < blocks.size(); ++index) pool.deallocate(blocks[index]);
    pool.trim();
    // 64 MiB of blocks, 8 MiB of pointers in this test; one block is still alive.
    EXPECT_LT(tenure::platform::resident_bytes(), before + (8 + 4) * mebibyte);
    EXPECT_EQ(pool.size(), 1u);
}

TEST(block_pool_trim, after_clear_the_pages_that_were_touched_before_go_too) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's own memory is counted too";
    block_pool pool(64);
    static_cast<void>(take(pool, mebibyte / 4));
    pool.clear();
    const std::size_t full = tenure::platform::resident_bytes();
    static_cast<void>(take(pool, 1));
    pool.trim();
    EXPECT_LT(tenure::platform::resident_bytes() + 12 * mebibyte, full);
    EXPECT_EQ(pool.size(), 1u);
}

TEST(block_pool_trim, blocks_larger_than_a_page_give_their_pages_back_one_by_one) {
    tenure::counting_source source(tenure::page_source::process());
    block_pool pool(5000, 8, mebibyte, source);
    std::vector<unsigned char*> blocks = take(pool, 100);
    for (std::size_t index = 0; index < blocks.size(); index += 2) pool.deallocate(blocks[index]);
    pool.trim();
    for (std::size_t index = 1; index < blocks.size(); index += 2) {
        for (std::size_t byte = 0; byte < 5000; ++byte)
            ASSERT_EQ(blocks[index][byte], static_cast<unsigned char>(index + 1));
    }
    EXPECT_TRUE(pool.valid());
}

}
