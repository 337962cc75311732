// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// VulkanSceneGraph's two designs, as rebuilt for scene: they split, merge, and keep what they hold.

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "bench/experiments/scene/rebuilt/element_blocks.hpp"
#include "bench/experiments/scene/rebuilt/mapped_blocks.hpp"
#include "bench/harness/random_source.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;

using namespace tenure::lab;

std::ptrdiff_t distance(void* from, void* to) { return static_cast<char*>(to) - static_cast<char*>(from); }

TEST(element_blocks, a_slot_has_a_header_of_4_bytes_and_begins_at_a_multiple_of_8) {
    element_blocks blocks(mebibyte);
    void* const first = blocks.allocate(40);
    void* const second = blocks.allocate(36);
    void* const third = blocks.allocate(1);
    void* const fourth = blocks.allocate(24);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 8, 0u);
    EXPECT_EQ(distance(first, second), 48);
    EXPECT_EQ(distance(second, third), 40);
    EXPECT_EQ(distance(third, fourth), 16) << "room for the links when it is free";
    EXPECT_TRUE(blocks.valid());
}

TEST(element_blocks, free_neighbours_are_merged_and_split_again) {
    element_blocks blocks(mebibyte);
    std::vector<void*> slots;
    for (int i = 0; i < 6; ++i) slots.push_back(blocks.allocate(60));     // 64 with the header
    for (const std::size_t i : {1u, 3u, 2u}) blocks.deallocate(slots[i]); // the last one between the other two
    EXPECT_TRUE(blocks.valid());
    EXPECT_EQ(blocks.allocate(3 * 64 - 4), slots[1]);
    blocks.deallocate(slots[1]);
    EXPECT_EQ(blocks.allocate(60), slots[1]);
    EXPECT_EQ(blocks.allocate(60), slots[2]);
    EXPECT_TRUE(blocks.valid());
}

TEST(element_blocks, what_15_bits_cannot_link_comes_from_malloc) {
    element_blocks blocks(mebibyte);
    void* const largest = blocks.allocate(element_block::max_bytes);
    EXPECT_EQ(blocks.block_count(), 1u);
    void* const oversized = blocks.allocate(element_block::max_bytes + 1);
    ASSERT_NE(oversized, nullptr);
    std::memset(oversized, 1, element_block::max_bytes + 1);
    EXPECT_EQ(blocks.block_count(), 1u);
    EXPECT_TRUE(blocks.owns(largest));
    EXPECT_TRUE(blocks.owns(oversized));
    blocks.deallocate(oversized);
    EXPECT_FALSE(blocks.owns(oversized));
    blocks.deallocate(largest);
    EXPECT_TRUE(blocks.valid());
}

TEST(element_blocks, a_block_is_used_to_its_end_and_again_after_frees) {
    element_blocks blocks(mebibyte);
    std::vector<void*> slots;
    while (blocks.block_count() < 3) slots.push_back(blocks.allocate(28)); // 32 with the header
    EXPECT_GE(slots.size(), 2 * (mebibyte / 32 - 16));
    for (void* slot : slots) blocks.deallocate(slot);
    EXPECT_TRUE(blocks.valid());
    for (std::size_t i = 0; i < slots.size(); ++i) ASSERT_NE(blocks.allocate(28), nullptr);
    EXPECT_EQ(blocks.block_count(), 3u);
}

TEST(element_blocks_death, a_second_free_ends_the_process) {
    element_blocks blocks(mebibyte);
    void* const slot = blocks.allocate(24);
    blocks.deallocate(slot);
    EXPECT_DEATH(blocks.deallocate(slot), "");
}

TEST(mapped_blocks, blocks_are_used_to_their_end_and_again_after_frees) {
    mapped_blocks blocks(mebibyte);
    std::vector<void*> slots;
    for (std::size_t i = 0; i < 3 * mebibyte / 64; ++i) slots.push_back(blocks.allocate(60)); // rounded to 64
    EXPECT_EQ(blocks.block_count(), 3u);
    for (void* slot : slots) blocks.deallocate(slot);
    for (std::size_t i = 0; i < slots.size(); ++i) ASSERT_NE(blocks.allocate(60), nullptr);
    EXPECT_EQ(blocks.block_count(), 3u);
    EXPECT_NE(blocks.allocate(5 * mebibyte), nullptr) << "a block of its own";
    EXPECT_EQ(blocks.block_count(), 4u);
}

struct rebuilt_block {
    unsigned char* place;
    std::size_t bytes;
    unsigned char fill;

    [[nodiscard]] bool intact() const {
        for (std::size_t i = 0; i < bytes; ++i) {
            if (place[i] != fill) return false;
        }
        return true;
    }
};

template<class Blocks>
class rebuilt_blocks : public testing::Test {
protected:
    static bool sound(const Blocks& blocks) {
        if constexpr (requires { blocks.valid(); }) return blocks.valid();
        return true;
    }
};
using all_blocks = testing::Types<element_blocks, mapped_blocks>;
TYPED_TEST_SUITE(rebuilt_blocks, all_blocks);

TYPED_TEST(rebuilt_blocks, keep_their_contents_through_random_operations) {
    TypeParam blocks(mebibyte);
    random_source random(11);
    std::vector<rebuilt_block> live;
    for (int step = 0; step < 40'000; ++step) {
        if (live.empty() || random.below(1000) < (step % 20'000 < 10'000 ? 600u : 400u)) {
            const std::size_t bytes = 1 + random.below(random.below(50) == 0 ? 200'000 : 600);
            auto* const place = static_cast<unsigned char*>(blocks.allocate(bytes));
            ASSERT_NE(place, nullptr);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(place) % 8, 0u);
            live.push_back({place, bytes, static_cast<unsigned char>(step)});
            std::memset(place, live.back().fill, bytes);
        } else {
            std::swap(live[random.below(live.size())], live.back());
            ASSERT_TRUE(live.back().intact()) << step;
            ASSERT_TRUE(blocks.owns(live.back().place));
            blocks.deallocate(live.back().place);
            live.pop_back();
        }
        if (step % 1000 == 0) {
            ASSERT_TRUE(this->sound(blocks)) << step;
        }
    }
    for (const rebuilt_block& each : live) {
        ASSERT_TRUE(each.intact());
        blocks.deallocate(each.place);
    }
    EXPECT_TRUE(this->sound(blocks));
}

}
