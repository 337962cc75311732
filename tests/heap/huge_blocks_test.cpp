// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/huge_blocks.hpp>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/platform/page_source.hpp>

#include "support/random.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using support::second;
using tenure::detail::contents;
using tenure::detail::heap_memory;
using tenure::detail::huge_blocks;
using tenure::detail::purge_policy;

class huge : public testing::Test {
protected:
    tenure::counting_source source_{tenure::page_source::process()};
    heap_memory memory_{source_};
    huge_blocks blocks_{memory_, purge_policy{second, 200 * mebibyte}};
};

TEST_F(huge, blocks_are_aligned_whole_and_given_back) {
    for (std::size_t alignment = 16; alignment <= std::size_t{1} << 32; alignment *= 2) {
        auto* const block = static_cast<unsigned char*>(blocks_.allocate(40 * mebibyte, alignment, 1));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(tenure::address_of(block) % alignment, 0u);
        EXPECT_GE(blocks_.usable_bytes(block), 40 * mebibyte);
        block[0] = block[40 * mebibyte - 1] = 7;
        EXPECT_EQ(blocks_.live_bytes(), 40 * mebibyte);
        blocks_.deallocate(block, 2);
        EXPECT_EQ(blocks_.live_bytes(), 0u);
    }
    EXPECT_EQ(blocks_.allocate(mebibyte, std::size_t{1} << 62, 3), nullptr);
    EXPECT_EQ(blocks_.allocate(SIZE_MAX / 2, 16, 3), nullptr);
    blocks_.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(huge, growth_under_a_limit_costs_what_it_adds) {
    memory_.limit_of_use().set(100 * mebibyte);
    void* const block = blocks_.allocate(60 * mebibyte, 16, 1);
    for (std::size_t each = 1; each <= 8; ++each) {
        ASSERT_TRUE(blocks_.resize(block, 60 * mebibyte + each * 65'536));
        EXPECT_FALSE(memory_.limit_of_use().is_trim_due()) << each;
    }
    EXPECT_EQ(memory_.in_use_bytes(), 60 * mebibyte + 8 * 65'536);
    blocks_.deallocate(block, 2);
    EXPECT_EQ(memory_.in_use_bytes(), 0u);
}

TEST_F(huge, a_freed_block_is_there_for_the_next_also_for_a_somewhat_larger_one) {
    void* const first = blocks_.allocate(80 * mebibyte, 16, 1);
    blocks_.deallocate(first, 2);
    EXPECT_GT(blocks_.retained_bytes(), 80 * mebibyte);
    void* const second_one = blocks_.allocate(81 * mebibyte, 16, 3);
    EXPECT_EQ(second_one, first);
    EXPECT_EQ(source_.requests(), 1u);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
    blocks_.deallocate(second_one, 4);
}

TEST_F(huge, what_is_kept_goes_back_when_its_time_is_over) {
    void* const block = blocks_.allocate(40 * mebibyte, 16, 1);
    blocks_.deallocate(block, 10);
    EXPECT_EQ(blocks_.expire(second), 0u);
    EXPECT_EQ(source_.live_blocks(), 1u);
    EXPECT_GT(blocks_.expire(second + 11), 40 * mebibyte);
    EXPECT_EQ(source_.live_blocks(), 0u);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
}

TEST_F(huge, a_block_past_the_limit_that_comes_again_in_time_is_kept_from_then_on) {
    for (std::uint64_t round = 1; round <= 4; ++round) {
        void* const block = blocks_.allocate(400 * mebibyte, 16, 10 * round);
        ASSERT_NE(block, nullptr);
        blocks_.deallocate(block, 10 * round + 5);
        EXPECT_EQ(blocks_.retained_bytes() >= 400 * mebibyte, round != 1) << round;
    }
    EXPECT_EQ(source_.requests(), 2u);
    EXPECT_NE(blocks_.expire(3 * second), 0u);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
    // It was not asked for in time: the limit is the old one again.
    blocks_.deallocate(blocks_.allocate(400 * mebibyte, 16, 5 * second), 5 * second + 1);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
}

TEST_F(huge, a_block_past_the_limit_that_comes_again_late_or_as_another_is_not_kept) {
    blocks_.deallocate(blocks_.allocate(400 * mebibyte, 16, 1), 2);
    blocks_.deallocate(blocks_.allocate(400 * mebibyte, 16, 2 * second), 2 * second + 1);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
    blocks_.deallocate(blocks_.allocate(1200 * mebibyte, 16, 2 * second + 2), 2 * second + 3);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
}

TEST_F(huge, what_is_past_the_limit_goes_back_at_once) {
    std::vector<void*> blocks;
    for (int each = 0; each < 5; ++each) blocks.push_back(blocks_.allocate(70 * mebibyte, 16, 1));
    for (void* const block : blocks) blocks_.deallocate(block, 2);
    EXPECT_LE(blocks_.retained_bytes(), 200 * mebibyte);
    EXPECT_GT(blocks_.retained_bytes(), 140 * mebibyte);
    EXPECT_EQ(source_.live_blocks(), 2u);
}

TEST_F(huge, kept_blocks_that_do_not_suit_do_not_raise_the_peak) {
    void* block = blocks_.allocate(100 * mebibyte, 16, 1);
    blocks_.deallocate(block, 2);
    const std::size_t peak = source_.peak_bytes();
    block = blocks_.allocate(34 * mebibyte, 16, 3); // far smaller: not worth the larger one
    EXPECT_EQ(source_.peak_bytes(), peak);
    EXPECT_EQ(blocks_.retained_bytes(), 0u);
    blocks_.deallocate(block, 4);
}

TEST_F(huge, a_block_is_resized_where_it_is_as_far_as_there_is_room) {
    auto* const block = static_cast<unsigned char*>(blocks_.allocate(64 * mebibyte, 16, 1));
    std::memset(block, 5, mebibyte);
    ASSERT_TRUE(blocks_.resize(block, 70 * mebibyte));
    block[70 * mebibyte - 1] = 6;
    EXPECT_EQ(blocks_.live_bytes(), 70 * mebibyte);
    EXPECT_TRUE(blocks_.resize(block, 40 * mebibyte));
    EXPECT_EQ(blocks_.live_bytes(), 40 * mebibyte);
    EXPECT_FALSE(blocks_.resize(block, SIZE_MAX / 2));
    EXPECT_EQ(block[mebibyte - 1], 5);
    blocks_.deallocate(block, 2);
}

TEST_F(huge, a_block_moves_without_a_copy_and_stays_known) {
    auto* block = static_cast<unsigned char*>(blocks_.allocate(64 * mebibyte, 1 << 20, 1));
    for (std::size_t at = 0; at < 64 * mebibyte; at += 4096) block[at] = static_cast<unsigned char>(at >> 12);
    const std::size_t segment = memory_.segment_bytes();
    for (std::size_t bytes = 100 * mebibyte; bytes < 3000 * mebibyte; bytes += bytes / 2) {
        block = static_cast<unsigned char*>(blocks_.move(block, bytes));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(tenure::address_of(block) % (1 << 20), 0u);
        for (std::size_t at = 0; at < 64 * mebibyte; at += 4096)
            ASSERT_EQ(block[at], static_cast<unsigned char>(at >> 12));
        EXPECT_EQ(memory_.kind_of(block), tenure::detail::head_kind::huge);
        EXPECT_EQ(blocks_.live_bytes(), bytes);
        EXPECT_GE(blocks_.usable_bytes(block), bytes);
    }
    EXPECT_EQ(blocks_.move(block, SIZE_MAX / 2), nullptr);
    EXPECT_EQ(blocks_.block_of(block + 2 * segment), block);
    EXPECT_EQ(block[4096], 1);
    blocks_.deallocate(block, 2);
    blocks_.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
    EXPECT_EQ(memory_.reserved_bytes(), 0u);
    EXPECT_EQ(memory_.in_use_bytes(), 0u);
}

TEST_F(huge, a_kept_block_grows_with_its_pages_for_a_larger_one) {
    contents found{};
    void* const first = blocks_.allocate(80 * mebibyte, 16, 1, found);
    EXPECT_EQ(found, contents::zero);
    std::memset(first, 1, 80 * mebibyte);
    blocks_.deallocate(first, 2);
    auto* const larger = static_cast<unsigned char*>(blocks_.allocate(130 * mebibyte, 16, 3, found));
    EXPECT_EQ(found, contents::unknown);
    EXPECT_EQ(larger[80 * mebibyte - 1], 1) << "the pages came along";
    EXPECT_EQ(source_.live_blocks(), 1u);
    blocks_.deallocate(larger, 4);
}

TEST_F(huge, a_limit_is_kept_and_what_is_kept_makes_room) {
    heap_memory memory(source_, tenure::detail::max_segment_bytes, 100 * mebibyte);
    huge_blocks blocks(memory);
    void* const first = blocks.allocate(60 * mebibyte, 16, 1);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(blocks.allocate(60 * mebibyte, 16, 1), nullptr);
    blocks.deallocate(first, 2);
    void* const second_one = blocks.allocate(35 * mebibyte, 16, 3);
    void* const third = blocks.allocate(60 * mebibyte, 16, 3);
    EXPECT_NE(second_one, nullptr);
    EXPECT_NE(third, nullptr);
    EXPECT_LE(memory.reserved_bytes(), 100 * mebibyte);
}

TEST_F(huge, a_refused_source_changes_nothing) {
    tenure::failing_source failing(source_, 0);
    heap_memory memory(failing);
    huge_blocks blocks(memory);
    EXPECT_EQ(blocks.allocate(50 * mebibyte, 16, 1), nullptr);
    EXPECT_EQ(blocks.live_bytes(), 0u);
    failing.allow(1);
    void* const block = blocks.allocate(50 * mebibyte, 16, 1);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(blocks.allocate(50 * mebibyte, 16, 1), nullptr);
    EXPECT_EQ(blocks.live_bytes(), 50 * mebibyte);
}

TEST_F(huge, a_double_free_is_reported) {
    const support::heard_reports heard;
    void* const block = blocks_.allocate(50 * mebibyte, 16, 1);
    blocks_.deallocate(block, 2);
    blocks_.deallocate(block, 3); // still kept
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(blocks_.live_bytes(), 0u);
}

}
