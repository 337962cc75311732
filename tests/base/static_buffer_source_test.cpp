// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/static_buffer_source.hpp>

#include <cstdint>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

namespace {

using tenure::static_buffer_source;

class static_buffer : public testing::Test {
protected:
    alignas(4096) unsigned char buffer_[8192] = {};
    static_buffer_source source_{buffer_, sizeof buffer_};
};

TEST_F(static_buffer, all_of_it_can_be_had_and_not_a_byte_more) {
    void* const all = source_.acquire(sizeof buffer_, 4096);
    EXPECT_EQ(all, buffer_);
    EXPECT_EQ(source_.acquire(1, 1), nullptr);
    EXPECT_EQ(source_.used_bytes(), sizeof buffer_);
    source_.release(all, sizeof buffer_);
    EXPECT_EQ(source_.used_bytes(), 0u);
    EXPECT_EQ(source_.acquire(sizeof buffer_ + 1, 1), nullptr);
    EXPECT_EQ(source_.acquire(SIZE_MAX, 1), nullptr);
    EXPECT_EQ(source_.acquire(1, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(source_.acquire(SIZE_MAX, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(source_.used_bytes(), 0u);
}

TEST_F(static_buffer, blocks_are_aligned_and_apart) {
    auto* const first = static_cast<unsigned char*>(source_.acquire(10, 1));
    auto* const second = static_cast<unsigned char*>(source_.acquire(10, 64));
    auto* const third = static_cast<unsigned char*>(source_.acquire(10, 1024));
    ASSERT_NE(third, nullptr);
    EXPECT_TRUE(tenure::is_aligned(second, 64));
    EXPECT_TRUE(tenure::is_aligned(third, 1024));
    EXPECT_GE(second, first + 10);
    EXPECT_GE(third, second + 10);
}

TEST_F(static_buffer, a_refusal_for_alignment_alone_changes_nothing) {
    static_cast<void>(source_.acquire(4097, 1));
    const std::size_t used = source_.used_bytes();
    EXPECT_EQ(source_.acquire(1, 8192), nullptr);
    EXPECT_EQ(source_.acquire(4096, 64), nullptr);
    EXPECT_EQ(source_.used_bytes(), used);
    EXPECT_NE(source_.acquire(4095, 1), nullptr);
}

TEST_F(static_buffer, what_is_given_back_in_reverse_is_used_again_at_once) {
    void* const first = source_.acquire(1000, 8);
    void* const second = source_.acquire(1000, 8);
    source_.release(second, 1000);
    EXPECT_EQ(source_.acquire(2000, 8), second);
    source_.release(second, 2000);
    source_.release(first, 1000);
    EXPECT_EQ(source_.used_bytes(), 0u);
}

TEST_F(static_buffer, what_is_given_back_out_of_order_is_used_again_when_all_are_back) {
    void* const first = source_.acquire(4000, 8);
    void* const second = source_.acquire(4000, 8);
    source_.release(first, 4000);
    EXPECT_EQ(source_.acquire(4000, 8), nullptr);
    source_.release(second, 4000);
    EXPECT_EQ(source_.acquire(sizeof buffer_, 8), buffer_);
}

TEST_F(static_buffer, only_the_newest_block_grows_where_it_is) {
    void* const first = source_.acquire(1000, 8);
    EXPECT_TRUE(source_.extend(first, 1000, 2000));
    void* const second = source_.acquire(1000, 8);
    EXPECT_FALSE(source_.extend(first, 2000, 2001));
    EXPECT_FALSE(source_.extend(second, 1000, sizeof buffer_));
    EXPECT_TRUE(source_.extend(second, 1000, sizeof buffer_ - 2000));
    EXPECT_EQ(source_.used_bytes(), sizeof buffer_);
    EXPECT_EQ(source_.remap(second, sizeof buffer_ - 2000, 100, 1), nullptr);
    EXPECT_FALSE(source_.decommit(second, 1000));
}

TEST_F(static_buffer, an_odd_buffer_is_aligned_by_its_addresses_and_not_its_offsets) {
    static_buffer_source odd(buffer_ + 3, 1000);
    void* const block = odd.acquire(16, 64);
    EXPECT_TRUE(tenure::is_aligned(block, 64));
    EXPECT_EQ(odd.max_bytes(), 1000u);
    EXPECT_EQ(odd.threads(), tenure::sharing::one_thread);
}

TEST(static_buffer_of_nothing, refuses_everything) {
    static_buffer_source source(nullptr, 0);
    EXPECT_EQ(source.acquire(1, 1), nullptr);
    EXPECT_EQ(source.max_bytes(), 0u);
}

TEST_F(static_buffer, the_size_that_a_block_has_is_granted_and_a_smaller_one_refused) {
    void* const first = source_.acquire(100, 8);
    EXPECT_FALSE(source_.extend(first, 100, 50));
    EXPECT_EQ(source_.used_bytes(), 100u);
    void* const second = source_.acquire(100, 4);
    EXPECT_TRUE(source_.extend(first, 100, 100));
    EXPECT_TRUE(source_.extend(second, 100, 100));
    EXPECT_EQ(source_.used_bytes(), 200u);
}

}
