// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/shared_block_pool.hpp>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>

#include "support/ledger.hpp"
#include "support/model.hpp"

namespace {

using tenure::shared_block_pool;

class shared_block_pools : public testing::Test {
protected:
    ~shared_block_pools() override { EXPECT_EQ(source_.live_blocks(), 0u); }

    static std::vector<void*> take(shared_block_pool& pool, std::size_t count) {
        std::vector<void*> blocks;
        while (blocks.size() < count) blocks.push_back(pool.allocate());
        return blocks;
    }

    tenure::counting_source source_{tenure::page_source::process()};
};

TEST_F(shared_block_pools, what_waits_in_caches_is_not_counted_as_allocated) {
    shared_block_pool pool(64, 16, source_);
    EXPECT_EQ(pool.size(), 0u);
    std::vector<void*> blocks = take(pool, 10'000);
    EXPECT_EQ(pool.size(), 10'000u);
    EXPECT_EQ(pool.stats().live_count, 10'000u);
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 10'000u);
    for (std::size_t left = blocks.size(); left != 0; --left) {
        pool.deallocate(blocks[left - 1]);
        ASSERT_EQ(pool.size(), left - 1);
    }
    EXPECT_EQ(pool.stats().live_bytes, 0u);
    EXPECT_TRUE(pool.valid());
    EXPECT_EQ(pool.size(), 0u);
}

TEST_F(shared_block_pools, keep_fewer_of_large_blocks_ready) {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    for (std::size_t bytes : {std::size_t{64}, std::size_t{4096}, mebibyte, 256 * mebibyte}) {
        shared_block_pool pool(bytes, 16, source_);
        void* const first = pool.allocate();
        // As many segments as one block needs: what is kept ready fits in them.
        EXPECT_EQ(pool.stats().source_blocks, 1u) << bytes;
        void* const second = pool.allocate();
        EXPECT_NE(second, first);
        pool.deallocate(second);
        pool.deallocate(first);
        EXPECT_EQ(pool.size(), 0u);
        EXPECT_TRUE(pool.valid());
    }
}

TEST_F(shared_block_pools, a_visit_sees_the_living_and_nothing_of_the_caches) {
    shared_block_pool pool(64, 16, source_);
    const std::vector<void*> blocks = take(pool, 5000);
    std::set<void*> living(blocks.begin(), blocks.end());
    for (std::size_t index = 0; index < blocks.size(); index += 2) {
        pool.deallocate(blocks[index]);
        living.erase(blocks[index]);
    }
    std::set<void*> seen;
    pool.for_each([&](void* block) { EXPECT_TRUE(seen.insert(block).second); });
    EXPECT_EQ(seen, living);
    pool.for_each([&](void* block) { pool.deallocate(block); });
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
}

TEST_F(shared_block_pools, clear_forgets_the_caches_too) {
    shared_block_pool pool(64, 16, source_);
    const std::vector<void*> blocks = take(pool, 5000);
    for (std::size_t index = 0; index < 200; ++index) pool.deallocate(blocks[index]);
    pool.clear();
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
    const std::vector<void*> again = take(pool, 5000);
    EXPECT_EQ(std::set<void*>(again.begin(), again.end()).size(), 5000u);
    EXPECT_EQ(source_.requests(), 1u);
}

TEST_F(shared_block_pools, trim_empties_the_caches_first) {
    shared_block_pool pool(64, 16, source_);
    for (void* each : take(pool, 5000)) pool.deallocate(each);
    const std::size_t held = source_.live_bytes();
    EXPECT_EQ(pool.trim(), held);
    EXPECT_EQ(source_.live_blocks(), 0u);
    EXPECT_EQ(take(pool, 10).size(), 10u);
}

TEST_F(shared_block_pools, in_the_shape_of_the_concept_it_serves_what_fits_a_block) {
    shared_block_pool pool(24, 8, source_);
    EXPECT_EQ(pool.allocate(25, 8), nullptr);
    EXPECT_EQ(pool.allocate(8, 16), nullptr);
    void* const block = pool.allocate(24, 8);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(pool.owns(block));
    EXPECT_FALSE(pool.owns(&pool));
    pool.deallocate(block, 24, 8);
    EXPECT_EQ(pool.size(), 0u);
}

TEST_F(shared_block_pools, more_pools_than_there_are_places_for_work_too) {
    std::vector<std::unique_ptr<shared_block_pool>> pools;
    for (int count = 0; count < 4200; ++count) {
        pools.push_back(std::make_unique<shared_block_pool>(32));
        if (count % 64 != 1 && count < 4090) continue;
        void* const block = pools.back()->allocate();
        ASSERT_TRUE(pools.back()->owns(block));
        ASSERT_EQ(pools.back()->size(), 1u);
        if (count % 2 == 0) pools.back()->deallocate(block);
    }
    // Places that become free are given to new pools, and old caches are not taken for theirs.
    for (std::size_t index = 1; index < pools.size(); index += 64) {
        pools[index] = std::make_unique<shared_block_pool>(48);
        void* const block = pools[index]->allocate();
        ASSERT_TRUE(pools[index]->owns(block));
        ASSERT_EQ(pools[index]->size(), 1u);
    }
}

std::string replay(std::span<const support::step> steps) {
    shared_block_pool pool(40, 8);
    support::ledger ledger;
    for (const support::step& each : steps) {
        std::string fault;
        std::size_t left = each.second % 300;
        switch (each.kind % 16) {
        case 0:
            ledger.forget_all();
            pool.clear();
            break;
        case 1: pool.trim(); break;
        case 2: fault = pool.valid() ? "" : "the pool is not valid"; break;
        case 3:
        case 4:
        case 5:
        case 6:
        case 7:
        case 8:
            for (; left != 0 && fault.empty(); --left) fault = ledger.add(pool.allocate(), 40, 8);
            break;
        default:
            for (; left != 0 && fault.empty() && !ledger.empty(); --left) {
                void* const block = ledger.at((each.first + left) % ledger.size()).at;
                fault = ledger.remove(block);
                pool.deallocate(block);
            }
        }
        if (fault.empty() && pool.size() != ledger.size()) fault = "the pool counts other than the model";
        if (!fault.empty()) return fault;
    }
    std::size_t seen = 0;
    pool.for_each([&](void* block) { seen += ledger.contains(block); });
    if (seen != ledger.size()) return "not every block that is alive was visited";
    return ledger.check_all();
}

TEST(shared_block_pool_model, agrees_with_the_pool) {
    for (int round = 0; round < 3; ++round) support::expect_agreement("shared_block_pool", 300, replay);
}

}
