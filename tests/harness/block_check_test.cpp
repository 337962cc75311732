// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/block_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "bench/harness/page_array.hpp"

namespace {

using namespace tenure::lab;

/// `count` blocks, `stride` bytes from one to the next.
std::vector<void*> blocks_of(const page_array<char>& memory, std::size_t count, std::size_t stride) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(memory.data() + i * stride);
    return blocks;
}

class block_check : public testing::Test {
protected:
    page_array<char> memory{1 << 16};
};

TEST_F(block_check, blocks_that_lie_apart_pass_at_every_size) {
    for (const std::size_t bytes : std::initializer_list<std::size_t>{1, 3, 4, 7, 8, 12, 16, 64, 100, 280}) {
        std::vector<void*> blocks = blocks_of(memory, 100, bytes);
        EXPECT_EQ(check_blocks(blocks, bytes, 1), "") << bytes;
    }
}

TEST_F(block_check, a_list_in_any_order_passes_and_is_sorted) {
    std::vector<void*> blocks = blocks_of(memory, 3, 8);
    std::swap(blocks[0], blocks[2]);
    EXPECT_EQ(check_blocks(blocks, 8, 8), "");
    EXPECT_EQ(blocks, blocks_of(memory, 3, 8));
}

TEST_F(block_check, blocks_that_overlap_by_one_byte_are_seen) {
    std::vector<void*> blocks = blocks_of(memory, 100, 63);
    EXPECT_EQ(wrong_places(blocks, 64, 1), "two blocks overlapped");
    EXPECT_EQ(wrong_places(blocks, 63, 1), "");
}

TEST_F(block_check, blocks_that_overlap_do_not_hold_what_was_written) {
    std::vector<void*> blocks = blocks_of(memory, 100, 60); // the last word of each is the first of the next
    fill_blocks(blocks, 64);
    EXPECT_FALSE(blocks_hold(blocks, 64));
    fill_blocks(blocks, 60);
    EXPECT_TRUE(blocks_hold(blocks, 60));
}

TEST_F(block_check, a_block_that_is_given_out_twice_is_seen) {
    std::vector<void*> blocks = blocks_of(memory, 100, 64);
    blocks[70] = blocks[30];
    EXPECT_EQ(check_blocks(blocks, 4, 4), "two blocks overlapped");
    blocks = blocks_of(memory, 100, 64);
    blocks[70] = blocks[30];
    fill_blocks(blocks, 4);
    EXPECT_FALSE(blocks_hold(blocks, 4));
}

TEST_F(block_check, a_block_that_is_not_aligned_is_seen) {
    std::vector<void*> blocks = blocks_of(memory, 3, 24);
    EXPECT_EQ(check_blocks(blocks, 24, 8), "");
    EXPECT_EQ(check_blocks(blocks, 24, 16), "a block did not have the requested alignment");
}

TEST_F(block_check, blocks_of_several_sizes_pass_when_they_lie_apart) {
    std::vector<sized_block> blocks;
    std::size_t place = 0;
    for (const std::size_t bytes : std::initializer_list<std::size_t>{512, 16, 40, 100, 7}) {
        blocks.push_back({memory.data() + place, bytes});
        place = tenure::align_up(place + bytes, 16);
    }
    std::swap(blocks[0], blocks[3]);
    EXPECT_EQ(check_blocks(blocks, 16), "");
    EXPECT_EQ(blocks[0].place, memory.data()) << "sorted by address";
}

TEST_F(block_check, a_small_block_needs_no_more_alignment_than_an_object_of_its_size) {
    std::vector<sized_block> blocks{{memory.data(), 16}, {memory.data() + 24, 12}};
    EXPECT_EQ(check_blocks(blocks, 16), "");
    blocks[1] = {memory.data() + 20, 12};
    EXPECT_EQ(check_blocks(blocks, 16), "a block did not have the requested alignment");
}

TEST_F(block_check, a_small_block_in_a_large_one_is_seen) {
    std::vector<sized_block> blocks{{memory.data(), 512}, {memory.data() + 496, 16}};
    EXPECT_EQ(check_blocks(blocks, 16), "two blocks overlapped");
    blocks[1].place = memory.data() + 512;
    EXPECT_EQ(check_blocks(blocks, 16), "");
    blocks[1].place = memory.data() + 520;
    EXPECT_EQ(check_blocks(blocks, 16), "a block did not have the requested alignment");
}

TEST_F(block_check, lists_with_numbers_of_their_own_are_told_apart) {
    const std::vector<void*> ours = blocks_of(memory, 100, 32);
    std::vector<void*> theirs;
    for (void* block : ours) theirs.push_back(static_cast<char*>(block) + 16);
    fill_blocks(ours, 24, 0);
    fill_blocks(theirs, 24, 100);
    EXPECT_FALSE(blocks_hold(ours, 24, 0)) << "eight bytes of each lie in one of theirs";
    fill_blocks(ours, 16, 0);
    fill_blocks(theirs, 16, 100);
    EXPECT_TRUE(blocks_hold(ours, 16, 0));
    EXPECT_FALSE(blocks_hold(ours, 16, 100));
}

TEST_F(block_check, one_byte_that_changes_is_seen_wherever_it_lies) {
    const std::vector<void*> blocks = blocks_of(memory, 2, 28);
    for (std::size_t place = 0; place < 56; ++place) {
        fill_blocks(blocks, 28);
        memory[place] = static_cast<char>(memory[place] ^ 1);
        EXPECT_FALSE(blocks_hold(blocks, 28)) << place;
    }
}

TEST(malloc_alignment, is_sixteen_or_what_an_object_of_the_size_can_ask_for) {
    constexpr std::array<std::size_t, 8> sizes{1, 4, 7, 8, 15, 16, 64, 280}, alignments{1, 4, 4, 8, 8, 16, 16, 16};
    for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(malloc_alignment(sizes[i]), alignments[i]) << sizes[i];
}

}
