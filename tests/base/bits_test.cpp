// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/bits.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace {

using tenure::bit_word;

TEST(bits, words_are_enough_for_their_bits_and_not_one_too_many) {
    EXPECT_EQ(tenure::words_for(0), 0u);
    EXPECT_EQ(tenure::words_for(1), 1u);
    EXPECT_EQ(tenure::words_for(64), 1u);
    EXPECT_EQ(tenure::words_for(65), 2u);
}

TEST(bits, the_lowest_bits_are_as_many_as_asked_for) {
    EXPECT_EQ(tenure::low_bits(0), 0u);
    EXPECT_EQ(tenure::low_bits(1), 1u);
    EXPECT_EQ(tenure::low_bits(63), ~bit_word{0} >> 1);
    EXPECT_EQ(tenure::low_bits(64), ~bit_word{0});
    EXPECT_EQ(tenure::low_bits(1000), ~bit_word{0});
    for (std::size_t count = 0; count <= 64; ++count) EXPECT_EQ(tenure::count_bits(tenure::low_bits(count)), count);
}

TEST(bits, an_index_past_a_word_wraps_into_the_next) {
    EXPECT_EQ(tenure::bit_at(0), 1u);
    EXPECT_EQ(tenure::bit_at(63), bit_word{1} << 63);
    EXPECT_EQ(tenure::bit_at(64), 1u);
    EXPECT_EQ(tenure::bit_at(130), 4u);
}

TEST(bits, a_range_is_visited_by_its_words) {
    for (std::size_t first = 0; first < 130; ++first) {
        for (std::size_t count = 0; count < 200; count += 7) {
            bit_word words[6]{};
            tenure::for_each_word_of(first, count, [&](std::size_t word, bit_word bits) {
                EXPECT_EQ(words[word], 0u) << "once each";
                words[word] |= bits;
            });
            for (std::size_t index = 0; index < 384; ++index) {
                const bool is_set = (words[index / 64] & tenure::bit_at(index)) != 0;
                ASSERT_EQ(is_set, index >= first && index < first + count);
            }
        }
    }
}

TEST(bits, each_bit_that_is_set_is_visited_once_from_the_lowest) {
    const std::vector<std::size_t> expected{0, 1, 5, 31, 32, 62, 63};
    bit_word word = 0;
    for (std::size_t index : expected) word |= tenure::bit_at(index);
    std::vector<std::size_t> visited;
    tenure::for_each_bit(word, [&](std::size_t index) { visited.push_back(index); });
    EXPECT_EQ(visited, expected);
    EXPECT_EQ(tenure::lowest_bit(word), 0u);
    EXPECT_EQ(tenure::lowest_bit(tenure::without_lowest_bit(word)), 1u);
    tenure::for_each_bit(0, [](std::size_t) { FAIL() << "no bit is set"; });
}

}
