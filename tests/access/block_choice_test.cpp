// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Which blocks of a list are watched together.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "observe/access/block_choice.hpp"

namespace {

using tenure::lab::block_choice;
using tenure::lab::chosen_block;
using tenure::lab::chosen_window;
using tenure::lab::live_blocks;
using tenure::lab::window_choice;

constexpr std::uint64_t thread_zero = std::uint64_t{1} << 40, allocated_ticks = 1000, now_ticks = 1'000'000;

class listing {
public:
    void add(std::uint64_t number, std::uint32_t stack, std::uint32_t ordinal, std::uint64_t bytes = 64,
             std::uint64_t ticks = allocated_ticks) {
        list_->add_sampled(0x10000 + number * 64, thread_zero | number, ticks, stack, ordinal, bytes);
    }
    [[nodiscard]] live_blocks& list() { return *list_; }
    [[nodiscard]] std::size_t count() const {
        std::size_t all = 0;
        for (const live_blocks::entry& each : list_->entries) all += std::size_t{each.name.load() != 0};
        return all;
    }

private:
    std::unique_ptr<live_blocks> list_ = std::make_unique<live_blocks>();
};

/// Rounds of four allocations: of the stacks 1, 2, 3, and 3 again.
void fill(listing& to, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
        to.add(round * 4, 1, round);
        to.add(round * 4 + 1, 2, round);
        to.add(round * 4 + 2, 3, round * 2);
        to.add(round * 4 + 3, 3, round * 2 + 1);
    }
}

TEST(block_choice, couples_have_the_relation_that_the_window_tells) {
    listing blocks;
    fill(blocks, 500);
    block_choice choice(1);
    choice.refresh(blocks.list(), now_ticks, 1000);
    EXPECT_EQ(choice.size(), 2000u);
    std::map<window_choice, int> counts;
    for (int turn = 0; turn < 2000; ++turn) {
        const chosen_window window = choice.next();
        ++counts[window.choice];
        std::set<std::uint64_t> names;
        for (const chosen_block& each : window.blocks) names.insert(each.block.name);
        ASSERT_EQ(names.size(), window.blocks.size()) << "each block once";
        ASSERT_GE(window.blocks.size(), 2u);
        if (window.choice == window_choice::random) continue;
        ASSERT_EQ(window.blocks.size() % 2, 0u);
        for (std::size_t index = 0; index < window.blocks.size(); index += 2) {
            const auto &one = window.blocks[index].block, &other = window.blocks[index + 1].block;
            EXPECT_EQ(one.stack, window.blocks[0].block.stack);
            EXPECT_EQ(other.stack, window.blocks[1].block.stack);
            if (window.choice == window_choice::successive)
                EXPECT_EQ(other.name - one.name, window.distance);
            else
                EXPECT_EQ(one.ordinal, other.ordinal);
        }
    }
    EXPECT_NEAR(counts[window_choice::random], 800, 120);
    EXPECT_GT(counts[window_choice::successive], 300);
    EXPECT_GT(counts[window_choice::matched], 300);
}

TEST(block_choice, by_chance_each_block_is_chosen_alike) {
    listing blocks;
    fill(blocks, 10);
    block_choice choice(2);
    choice.refresh(blocks.list(), now_ticks, 1000);
    std::map<std::uint64_t, int> counts;
    int chosen = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        const chosen_window window = choice.next();
        if (window.choice != window_choice::random) continue;
        for (const chosen_block& each : window.blocks) ++counts[each.block.name], ++chosen;
    }
    EXPECT_EQ(counts.size(), 40u);
    for (const auto& [name, count] : counts) EXPECT_NEAR(count, chosen / 40, chosen / 40 / 4) << name;
}

TEST(block_choice, a_relation_whose_couple_was_touched_together_comes_again) {
    listing blocks;
    fill(blocks, 500);
    block_choice choice(3);
    choice.refresh(blocks.list(), now_ticks, 1000);
    const std::array<std::uint32_t, 4> counts{1, 1, 1, 1};
    const std::array<bool, 2> near{true, false}, apart{false, false};
    int ones = 0, relations = 0;
    for (int turn = 0; turn < 2000; ++turn) {
        const chosen_window window = choice.next();
        if (window.choice == window_choice::random) continue;
        const bool is_it = window.choice == window_choice::matched && window.blocks[0].block.stack == 1 &&
                           window.blocks[1].block.stack == 2;
        ++relations;
        ones += is_it ? 1 : 0;
        choice.learn(window, counts, is_it ? near : apart);
    }
    EXPECT_GT(ones * 5, relations * 2) << ones << " of " << relations;
}

TEST(block_choice, stacks_that_are_never_touched_are_seldom_in_couples) {
    listing blocks;
    fill(blocks, 500);
    block_choice choice(4);
    choice.refresh(blocks.list(), now_ticks, 1000);
    int with_third = 0, relations = 0;
    for (int turn = 0; turn < 3000; ++turn) {
        const chosen_window window = choice.next();
        std::vector<std::uint32_t> counts;
        bool has_third = false;
        for (const chosen_block& each : window.blocks) {
            counts.push_back(each.block.stack == 3 ? 0 : 1);
            has_third = has_third || each.block.stack == 3;
        }
        choice.learn(window, counts, std::array<bool, 2>{});
        if (turn < 500 || window.choice == window_choice::random) continue;
        ++relations;
        with_third += has_third ? 1 : 0;
    }
    EXPECT_LT(with_third * 2, relations) << "half of the blocks are of this stack";
    EXPECT_GT(with_third, 0);
}

TEST(block_choice, a_full_list_is_thinned_and_neighbours_stay_together) {
    listing blocks;
    fill(blocks, 2500);
    block_choice choice(5);
    choice.refresh(blocks.list(), now_ticks, 1000);
    EXPECT_EQ(blocks.list().mask.load(), 1u);
    EXPECT_LT(choice.size(), 9000u);
    EXPECT_EQ(choice.size(), blocks.count());
    const std::size_t before = blocks.count();
    for (std::uint32_t round = 2500; round < 2600; ++round) blocks.add(round * 4, 1, round);
    EXPECT_LT(blocks.count() - before, 100u) << "new blocks are listed by the same rule";
    EXPECT_GT(blocks.count() - before, 40u);
    int couples = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const chosen_window window = choice.next();
        couples += window.choice != window_choice::random && window.blocks.size() == 4 ? 1 : 0;
    }
    EXPECT_GT(couples, 80);
}

TEST(block_choice, blocks_that_were_listed_under_an_earlier_mask_are_not_chosen) {
    listing blocks;
    fill(blocks, 100);
    live_blocks& list = blocks.list();
    list.mask.store(7); // while a thread of the program, which has seen the mask before, adds a block
    block_choice choice(8);
    choice.refresh(list, now_ticks, 1000);
    EXPECT_EQ(choice.size(), blocks.count());
    EXPECT_LT(choice.size(), 200u);
    for (const live_blocks::entry& each : list.entries)
        EXPECT_TRUE(each.name.load() == 0 || list.is_sampled(7, each.name.load(), each.ordinal.load()));
}

TEST(block_choice, young_small_and_misaligned_blocks_are_left_out) {
    listing blocks;
    blocks.add(1, 1, 0, 64, now_ticks - 10);
    blocks.add(2, 1, 1, 7);
    static_cast<void>(blocks.list().add(0x20004, thread_zero | 3, allocated_ticks, 1, 2, 64));
    blocks.add(4, 1, 3);
    block_choice choice(6);
    choice.refresh(blocks.list(), now_ticks, 1000);
    EXPECT_EQ(choice.size(), 1u);
    EXPECT_TRUE(choice.next().blocks.empty()) << "one block has no company";
}

TEST(block_choice, watched_words_lie_in_the_block) {
    listing blocks;
    for (std::uint32_t index = 0; index < 100; ++index) blocks.add(index, 1, index, 8 + index % 30);
    block_choice choice(7);
    choice.refresh(blocks.list(), now_ticks, 1000);
    std::set<std::uint32_t> offsets;
    for (int turn = 0; turn < 500; ++turn) {
        for (const chosen_block& each : choice.next().blocks) {
            EXPECT_EQ(each.offset % 8, 0u);
            EXPECT_LE(each.offset + 8, each.block.bytes);
            offsets.insert(each.offset);
        }
    }
    EXPECT_EQ(offsets, (std::set<std::uint32_t>{0, 8, 16, 24}));
}

}
