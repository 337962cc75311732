// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "harness/proof.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "harness/block_owner.hpp"

namespace {

using namespace tenure::lab;

/// Owns what lies in its array.
struct asked_pool {
    static constexpr std::string_view query = "asked_pool::owns";
    [[nodiscard]] bool owns(const void* block) const {
        return block >= cells.data() && block < cells.data() + cells.size();
    }
    std::array<int, 4> cells{};
};

struct counting_pool {
    static constexpr std::string_view query = "counting_pool::count";
    [[nodiscard]] std::size_t alive() const { return count; }
    std::size_t count;
};

struct silent_pool {};

/// Stands in front of another.
struct front {
    const asked_pool& behind;
    [[nodiscard]] block_owner owner() const { return owner_of(behind); }
};

bool holds(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

template<class Pool>
verdict proven(const Pool& pool, std::span<void* const> blocks) {
    block_proof proof(route::inlined, {}, "some::pool");
    proof.witness(blocks, sizeof(int), owner_of(pool));
    return proof.conclude();
}

TEST(proof, a_pool_that_owns_every_block_is_proven_and_says_how_many_were_asked) {
    asked_pool pool;
    std::array<void*, 3> const blocks{&pool.cells[0], &pool.cells[1], &pool.cells[3]};
    verdict const found = proven(pool, blocks);
    EXPECT_TRUE(found.proven);
    EXPECT_TRUE(holds(found.text, "some::pool called directly; 3 of 3 blocks asked are its own by asked_pool::owns"))
        << found.text;
}

TEST(proof, one_block_that_the_pool_denies_is_enough) {
    asked_pool pool;
    int elsewhere = 0;
    std::array<void*, 3> const blocks{&pool.cells[0], &elsewhere, &pool.cells[3]};
    verdict const found = proven(pool, blocks);
    EXPECT_FALSE(found.proven);
    EXPECT_TRUE(holds(found.text, "2 of 3 blocks asked")) << found.text;
}

TEST(proof, of_many_blocks_a_thousand_are_asked) {
    asked_pool pool;
    std::vector<void*> const blocks(5000, &pool.cells[0]);
    EXPECT_TRUE(holds(proven(pool, blocks).text, "1000 of 1000 blocks asked"));
}

TEST(proof, a_pool_that_only_counts_must_count_them_all) {
    std::array<int, 5> cells{};
    std::array<void*, 5> const blocks{&cells[0], &cells[1], &cells[2], &cells[3], &cells[4]};
    EXPECT_TRUE(proven(counting_pool{7}, blocks).proven);
    verdict const found = proven(counting_pool{4}, blocks);
    EXPECT_FALSE(found.proven);
    EXPECT_TRUE(holds(found.text, "4 of 5 blocks shown are counted by counting_pool::count")) << found.text;
}

TEST(proof, a_pool_that_cannot_be_asked_says_so) {
    int cell = 0;
    std::array<void*, 1> const blocks{&cell};
    verdict const found = proven(silent_pool{}, blocks);
    EXPECT_TRUE(found.proven);
    EXPECT_TRUE(holds(found.text, "it has no call to ask for its blocks; 1 shown")) << found.text;
}

TEST(proof, what_stands_in_front_of_a_pool_hands_the_question_on) {
    asked_pool pool;
    std::array<void*, 1> const blocks{&pool.cells[2]};
    EXPECT_TRUE(holds(proven(front{pool}, blocks).text, "1 of 1 blocks asked are its own by asked_pool::owns"));
}

TEST(proof, without_a_block_nothing_is_proven) { EXPECT_FALSE(proven(asked_pool{}, {}).proven); }

}
