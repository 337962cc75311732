// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/block_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/static_buffer_source.hpp>

#include "support/reports.hpp"

namespace {

using tenure::block_pool;

class block_pools : public testing::Test {
protected:
    ~block_pools() override { EXPECT_EQ(source_.live_blocks(), 0u); }

    static std::vector<void*> take(block_pool& pool, std::size_t count) {
        std::vector<void*> blocks;
        while (blocks.size() < count) {
            blocks.push_back(pool.allocate());
            if (blocks.back() == nullptr) throw std::bad_alloc();
        }
        return blocks;
    }

    tenure::counting_source source_{tenure::page_source::process()};
};

TEST_F(block_pools, nothing_is_taken_before_the_first_block) {
    block_pool pool(64, 16, source_);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
    EXPECT_FALSE(pool.owns(&pool));
    pool.clear();
    EXPECT_EQ(pool.trim(), 0u);
    pool.for_each([](void*) { FAIL(); });
    EXPECT_EQ(source_.requests(), 0u);
}

TEST_F(block_pools, the_stride_is_exactly_what_size_and_alignment_ask) {
    EXPECT_EQ(block_pool(1, 1, source_).block_bytes(), 1u);
    EXPECT_EQ(block_pool(3, 1, source_).block_bytes(), 3u);
    EXPECT_EQ(block_pool(24, 8, source_).block_bytes(), 24u);
    EXPECT_EQ(block_pool(24, 16, source_).block_bytes(), 24u);
    EXPECT_EQ(block_pool(280, 8, source_).block_bytes(), 280u);
    EXPECT_EQ(block_pool(1, 4096, source_).block_bytes(), 1u);
    block_pool pool(24, 8, source_);
    const std::vector<void*> blocks = take(pool, 1000);
    for (std::size_t index = 1; index < blocks.size(); ++index)
        EXPECT_EQ(static_cast<char*>(blocks[index]) - static_cast<char*>(blocks[index - 1]),
                  tenure::checks::caller ? 24 + 16 : 24);
}

TEST_F(block_pools, blocks_that_a_pool_cannot_have_are_refused_always) {
    const support::heard_reports heard; // checked builds report what is refused
    for (block_pool* pool :
         {new block_pool(0, 16, source_), new block_pool(block_pool::max_block_bytes + 1, 1, source_),
          new block_pool(16, 3, source_), new block_pool(16, 0, source_),
          new block_pool(1, block_pool::max_block_bytes * 2, source_), new block_pool(SIZE_MAX, 16, source_)}) {
        EXPECT_EQ(pool->allocate(), nullptr);
        EXPECT_EQ(pool->allocate(1, 1), nullptr);
        EXPECT_EQ(pool->allocate(0, 1), nullptr);
        EXPECT_EQ(pool->size(), 0u);
        EXPECT_TRUE(pool->valid());
        EXPECT_FALSE(pool->owns(pool));
        pool->clear();
        EXPECT_EQ(pool->trim(), 0u);
        delete pool;
    }
    EXPECT_EQ(source_.requests(), 0u);
}

TEST_F(block_pools, the_largest_block_is_served) {
    block_pool pool(block_pool::max_block_bytes, 4096, source_);
    // Fifteen lie in a segment; checked builds fill and poison what is freed, which takes long for so many.
    const std::vector<void*> blocks = take(pool, tenure::checks::caller ? 1 : 17);
    for (void* each : blocks) {
        EXPECT_TRUE(tenure::is_aligned(each, 4096));
        static_cast<unsigned char*>(each)[0] = 1;
        static_cast<unsigned char*>(each)[block_pool::max_block_bytes - 1] = 2;
    }
    EXPECT_EQ(source_.live_blocks(), blocks.size() / 15 + 1);
    for (void* each : blocks) pool.deallocate(each);
    EXPECT_TRUE(pool.valid());
}

TEST_F(block_pools, the_largest_alignment_is_kept) {
    block_pool pool(1, block_pool::max_block_bytes, source_);
    const std::size_t count = tenure::checks::caller ? 1 : 3; // checks fill each with a pattern
    for (void* each : take(pool, count)) EXPECT_TRUE(tenure::is_aligned(each, block_pool::max_block_bytes));
}

TEST_F(block_pools, in_the_shape_of_the_concept_it_serves_what_fits_a_block) {
    block_pool pool(24, 8, source_);
    EXPECT_EQ(pool.allocate(25, 8), nullptr);
    EXPECT_EQ(pool.allocate(8, 16), nullptr);
    void* const block = pool.allocate(10, 4);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(pool.size(), 1u);
    pool.deallocate(block, 10, 4);
    EXPECT_EQ(pool.size(), 0u);
}

TEST_F(block_pools, a_free_block_is_handed_out_again) {
    block_pool pool(64, 16, source_);
    void* const first = pool.allocate();
    pool.deallocate(first);
    // At once, except in checked builds, where the group that is being handed out comes to its end before.
    const std::vector<void*> next = take(pool, tenure::checks::caller ? 64 : 1);
    EXPECT_EQ(std::count(next.begin(), next.end(), first), 1);
}

TEST_F(block_pools, no_block_is_handed_out_twice_whatever_the_order_of_frees) {
    for (std::size_t live : {1u, 63u, 64u, 65u, 127u, 128u, 129u, 130u, 1000u, 20'000u}) {
        for (int order = 0; order < 3; ++order) {
            block_pool pool(24, 8, 64 * 1024, source_);
            std::vector<void*> blocks = take(pool, live);
            if (order == 1) std::reverse(blocks.begin(), blocks.end());
            if (order == 2) std::rotate(blocks.begin(), blocks.begin() + static_cast<long>(live / 2), blocks.end());
            for (std::size_t index = 0; index < live; ++index) {
                pool.deallocate(blocks[index]);
                ASSERT_EQ(pool.size(), live - index - 1);
            }
            ASSERT_TRUE(pool.valid());
            const std::size_t reserved = source_.live_bytes();
            const std::vector<void*> again = take(pool, live);
            EXPECT_EQ(std::set<void*>(again.begin(), again.end()).size(), live);
            EXPECT_EQ(source_.live_bytes(), reserved) << "free blocks come before new segments";
            EXPECT_TRUE(pool.valid());
        }
    }
}

TEST_F(block_pools, after_random_frees_addresses_come_back_in_order) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds free into the bits at once";
    block_pool pool(64, 16, source_);
    const std::vector<void*> blocks = take(pool, 100'000);
    for (std::size_t index = 0; index < blocks.size(); ++index) pool.deallocate(blocks[index * 7919 % blocks.size()]);
    std::vector<void*> again = take(pool, blocks.size());
    // Only the few that were freed last may come out of order.
    EXPECT_TRUE(std::is_sorted(again.begin() + 200, again.end()));
}

TEST_F(block_pools, nullptr_between_frees_changes_nothing) {
    block_pool pool(64, 16, source_);
    const std::vector<void*> blocks = take(pool, 200);
    pool.deallocate(nullptr);
    EXPECT_EQ(pool.size(), 200u);
    for (std::size_t index : {5u, 6u, 7u, 4u, 90u, 150u}) {
        const std::size_t before = pool.size();
        pool.deallocate(blocks[index]);
        pool.deallocate(nullptr);
        pool.deallocate(nullptr);
        EXPECT_EQ(pool.size(), before - 1);
    }
    const std::vector<void*> again = take(pool, 6);
    EXPECT_EQ(pool.size(), 200u);
    EXPECT_TRUE(pool.valid());
    if constexpr (!tenure::checks::caller) {
        const std::set<void*> freed{blocks[4], blocks[5], blocks[6], blocks[7], blocks[90], blocks[150]};
        EXPECT_EQ(std::set<void*>(again.begin(), again.end()), freed);
    }
}

TEST_F(block_pools, a_row_of_neighbours_ends_with_its_segment) {
    block_pool pool(1024, 16, 64 * 1024, source_);
    const std::size_t live = 1000; // in about 16 segments, which the source may place side by side
    const std::vector<void*> blocks = take(pool, live);
    for (void* const block : blocks) pool.deallocate(block);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
    EXPECT_GT(pool.trim(), 0u);
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(block_pools, clear_frees_everything_and_keeps_the_pages) {
    block_pool pool(64, 16, 64 * 1024, source_);
    const std::vector<void*> first = take(pool, 5000);
    pool.deallocate(first[17]);
    const std::size_t segments = source_.live_blocks();
    pool.clear();
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
    pool.for_each([](void*) { FAIL(); });
    EXPECT_EQ(take(pool, 5000), first);
    EXPECT_EQ(source_.live_blocks(), segments);
    EXPECT_EQ(source_.requests(), segments);
    EXPECT_TRUE(pool.valid());
}

TEST_F(block_pools, each_living_block_is_visited_once_in_the_order_of_addresses) {
    block_pool pool(40, 8, 64 * 1024, source_);
    const std::vector<void*> blocks = take(pool, 3000);
    std::set<void*> living(blocks.begin(), blocks.end());
    for (std::size_t index = 0; index < blocks.size(); index += 3) {
        pool.deallocate(blocks[index]);
        living.erase(blocks[index]);
    }
    std::vector<void*> visited;
    pool.for_each([&](void* block) { visited.push_back(block); });
    EXPECT_EQ(visited.size(), living.size());
    EXPECT_EQ(std::set<void*>(visited.begin(), visited.end()), living);
    std::size_t descents = 0;
    for (std::size_t index = 1; index < visited.size(); ++index) descents += visited[index] < visited[index - 1];
    EXPECT_LT(descents, source_.live_blocks());
    EXPECT_EQ(pool.size(), living.size());
}

TEST_F(block_pools, a_visit_may_free_the_block_that_it_is_given) {
    block_pool pool(40, 8, 64 * 1024, source_);
    static_cast<void>(take(pool, 3000));
    std::size_t count = 0;
    pool.for_each([&](void* block) {
        if (++count % 2 == 0) pool.deallocate(block);
    });
    EXPECT_EQ(count, 3000u);
    EXPECT_EQ(pool.size(), 1500u);
    pool.for_each([&](void* block) { pool.deallocate(block); });
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
}

TEST_F(block_pools, every_byte_of_every_block_is_owned_and_the_next_pool_is_not) {
    block_pool pool(100, 4, 64 * 1024, source_);
    block_pool other(100, 4, 64 * 1024, source_);
    for (void* each : take(pool, 2000)) {
        EXPECT_TRUE(pool.owns(each));
        EXPECT_TRUE(pool.owns(static_cast<char*>(each) + 99));
    }
    EXPECT_FALSE(pool.owns(other.allocate()));
    EXPECT_FALSE(pool.owns(nullptr));
    EXPECT_FALSE(pool.owns(&pool));
}

TEST_F(block_pools, statistics_count_blocks_and_segments) {
    block_pool pool(100, 4, 64 * 1024, source_);
    const std::vector<void*> blocks = take(pool, 2000);
    for (std::size_t index = 0; index < 500; ++index) pool.deallocate(blocks[index]);
    const tenure::allocator_stats seen = pool.stats();
    EXPECT_EQ(seen.live_count, 1500u);
    EXPECT_EQ(seen.live_bytes, 150'000u);
    EXPECT_GE(seen.peak_bytes, 200'000u);
    EXPECT_LE(seen.peak_bytes, 200'000u + 64 * 100);
    EXPECT_EQ(seen.source_blocks, source_.live_blocks());
    EXPECT_EQ(seen.reserved_bytes, source_.live_bytes());
}

/// Not every linker aligns a variable to 64 KiB.
unsigned char* aligned_in(unsigned char* room) {
    return static_cast<unsigned char*>(tenure::pointer_at(tenure::align_up(tenure::address_of(room), 65536)));
}

TEST_F(block_pools, what_a_source_gives_need_not_be_zero) {
    static unsigned char room[2 * 65536];
    auto* const buffer = aligned_in(room);
    std::memset(buffer, 0xFF, 65536);
    tenure::static_buffer_source dirty(buffer, 65536);
    block_pool pool(16, 16, dirty);
    const std::vector<void*> blocks = take(pool, 2000);
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 2000u);
    for (void* each : blocks) pool.deallocate(each);
    EXPECT_TRUE(pool.valid());
}

TEST_F(block_pools, a_static_buffer_of_64_kib_is_enough_wherever_it_begins) {
    static unsigned char room[2 * 65536 + 4096];
    auto* const buffer = aligned_in(room);
    for (std::size_t begin : {std::size_t{0}, std::size_t{64}, std::size_t{4096}}) {
        tenure::static_buffer_source fixed(buffer + begin, 65536);
        block_pool pool(100, 4, fixed);
        std::vector<void*> blocks;
        for (int round = 0; round < 3; ++round) {
            const std::size_t before = blocks.size();
            while (void* const block = pool.allocate()) {
                std::memset(block, round, 100);
                blocks.push_back(block);
            }
            EXPECT_GT(blocks.size(), round == 0 ? 200u : before) << "it goes on after frees";
            EXPECT_EQ(pool.allocate(), nullptr);
            EXPECT_EQ(pool.size(), blocks.size());
            EXPECT_TRUE(pool.valid());
            for (int count = 0; count < 150; ++count, blocks.pop_back()) pool.deallocate(blocks.back());
        }
    }
}

}
