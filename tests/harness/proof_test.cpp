// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/mallocs/proof.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/schedule.hpp"
#include "harness/toy_experiment.hpp"
#include "support/own_path.hpp"
#include "support/process.hpp"

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
proof_verdict proven(const Pool& pool, std::span<void* const> blocks) {
    block_proof proof(route::inlined, {}, "some::pool");
    proof.witness(blocks, sizeof(int), owner_of(pool));
    return proof.conclude();
}

TEST(proof, a_pool_that_owns_every_block_is_proven_and_says_how_many_were_asked) {
    asked_pool pool;
    const std::array<void*, 3> blocks{&pool.cells[0], &pool.cells[1], &pool.cells[3]};
    const proof_verdict found = proven(pool, blocks);
    EXPECT_TRUE(found.proven);
    EXPECT_TRUE(holds(found.text, "some::pool called directly; 3 of 3 blocks asked are its own by asked_pool::owns"))
        << found.text;
}

TEST(proof, one_block_that_the_pool_denies_is_enough) {
    asked_pool pool;
    int elsewhere = 0;
    const std::array<void*, 3> blocks{&pool.cells[0], &elsewhere, &pool.cells[3]};
    const proof_verdict found = proven(pool, blocks);
    EXPECT_FALSE(found.proven);
    EXPECT_TRUE(holds(found.text, "2 of 3 blocks asked")) << found.text;
}

TEST(proof, of_many_blocks_a_thousand_are_asked) {
    asked_pool pool;
    const std::vector<void*> blocks(5000, &pool.cells[0]);
    EXPECT_TRUE(holds(proven(pool, blocks).text, "1000 of 1000 blocks asked"));
}

TEST(proof, a_pool_that_only_counts_must_count_them_all) {
    std::array<int, 5> cells{};
    const std::array<void*, 5> blocks{&cells[0], &cells[1], &cells[2], &cells[3], &cells[4]};
    EXPECT_TRUE(proven(counting_pool{7}, blocks).proven);
    const proof_verdict found = proven(counting_pool{4}, blocks);
    EXPECT_FALSE(found.proven);
    EXPECT_TRUE(holds(found.text, "4 of 5 blocks shown are counted by counting_pool::count")) << found.text;
}

TEST(proof, a_pool_that_cannot_be_asked_says_so) {
    int cell = 0;
    const std::array<void*, 1> blocks{&cell};
    const proof_verdict found = proven(silent_pool{}, blocks);
    EXPECT_TRUE(found.proven);
    EXPECT_TRUE(holds(found.text, "it has no call to ask for its blocks; 1 shown")) << found.text;
}

TEST(proof, what_stands_in_front_of_a_pool_hands_the_question_on) {
    asked_pool pool;
    const std::array<void*, 1> blocks{&pool.cells[2]};
    EXPECT_TRUE(holds(proven(front{pool}, blocks).text, "1 of 1 blocks asked are its own by asked_pool::owns"));
}

/// A row of the toys over a malloc, in a worker that has it preloaded.
contestant_result run_over(const found_malloc& malloc, std::string_view row) {
    const experiment& toys = toys::experiments().front();
    std::vector<measured_row> rows = list_rows(toys, std::array{malloc}, {});
    std::erase_if(rows, [&](const measured_row& each) { return each.name != row; });
    run_settings settings;
    settings.rounds = 1;
    return run_experiment(toys, parameters(toys.options), rows, settings).contestants.at(0);
}

class preloaded_proof : public testing::Test {
protected:
    void SetUp() override {
        if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
        own = find_own_malloc("libtenure_malloc.so");
        if (!own.found) GTEST_SKIP() << own.reason;
    }
    found_malloc own;
};

TEST_F(preloaded_proof, our_own_malloc_must_count_what_is_shown) {
    const contestant_result served = run_over(own, own.name);
    EXPECT_EQ(served.state, outcome::measured) << served.reason;
    EXPECT_TRUE(holds(served.proof, "whose mallinfo2 counts the 100 blocks")) << served.proof;
    const contestant_result elsewhere = run_over(own, "uses no malloc");
    EXPECT_EQ(elsewhere.state, outcome::failed);
    EXPECT_TRUE(holds(elsewhere.reason, "not proven")) << elsewhere.reason;
    EXPECT_TRUE(holds(elsewhere.reason, "whose mallinfo2 does not count the 1 blocks")) << elsewhere.reason;
}

TEST_F(preloaded_proof, the_c_librarys_malloc_must_count_what_is_shown) {
    const contestant_result row = run_over({std::string{system_malloc_name}, {}, {}, true, {}, {}}, "uses no malloc");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_TRUE(holds(row.reason, "mallinfo2 does not count the 1 blocks")) << row.reason;
}

TEST_F(preloaded_proof, a_stranger_whose_mallinfo2_does_not_count_is_proven_by_its_symbols) {
    // By another name nobody knows ours.
    const std::string path = support::own_path("libstranger-with-mallinfo2.so");
    std::filesystem::copy_file(own.library, path, std::filesystem::copy_options::overwrite_existing);
    const contestant_result row = run_over(find_malloc_file(path), "uses no malloc");
    EXPECT_EQ(row.state, outcome::measured) << row.reason;
    EXPECT_TRUE(holds(row.proof, "whose mallinfo2 does not count the 1 blocks")) << row.proof;
    std::filesystem::remove(path);
}

TEST(proof, without_a_block_nothing_is_proven) { EXPECT_FALSE(proven(asked_pool{}, {}).proven); }

}
