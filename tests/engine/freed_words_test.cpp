// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/freed_words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

using tenure::bit_word;
using tenure::detail::freed_word;
using tenure::detail::max_freed_words;

/// A page of 640 blocks of 16 bytes with their free bits.
struct page {
    alignas(16) unsigned char blocks[640][16];
    bit_word bits[10] = {};

    struct counted : freed_word {
        std::size_t count;
    };
    std::vector<counted> locate(const std::vector<std::size_t>& freed) {
        std::vector<void*> pointers;
        for (std::size_t index : freed) pointers.push_back(blocks[index]);
        std::array<counted, max_freed_words> found;
        const std::size_t words = tenure::detail::locate_freed(
            pointers.data(), pointers.size(), found.data(),
            [this](const void* block) {
                const auto index = static_cast<std::size_t>(static_cast<const unsigned char*>(block) - blocks[0]) / 16;
                return counted{{bits + index / 64, tenure::bit_at(index)}, 1};
            },
            [](counted& word) { ++word.count; });
        return {found.begin(), found.begin() + words};
    }
};

TEST(freed_words, neighbours_share_a_word) {
    page of;
    const auto found = of.locate({3, 4, 5, 64, 65, 6});
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].word, of.bits);
    EXPECT_EQ(found[0].bits, 0b111000u);
    EXPECT_EQ(found[0].count, 3u);
    EXPECT_EQ(found[1].word, of.bits + 1);
    EXPECT_EQ(found[1].bits, 0b11u);
    EXPECT_EQ(found[2].word, of.bits) << "the order of the blocks is kept";
    EXPECT_EQ(found[2].bits, tenure::bit_at(6));
}

TEST(freed_words, a_block_freed_twice_appears_in_two_words) {
    page of;
    const auto found = of.locate({7, 7});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].bits & found[1].bits, tenure::bit_at(7));
}

TEST(freed_words, every_block_of_a_random_batch_is_in_one_word) {
    std::mt19937 random(16);
    for (int round = 0; round < 200; ++round) {
        page of;
        std::vector<std::size_t> order(640);
        for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
        std::shuffle(order.begin(), order.end(), random);
        order.resize(1 + random() % max_freed_words);
        if (round % 2 == 0) std::sort(order.begin(), order.end());
        std::map<bit_word*, bit_word> expected, set;
        for (std::size_t index : order) expected[of.bits + index / 64] |= tenure::bit_at(index);
        std::size_t count = 0;
        for (const page::counted& each : of.locate(order)) {
            EXPECT_EQ(set[each.word] & each.bits, 0u);
            EXPECT_EQ(tenure::count_bits(each.bits), each.count);
            set[each.word] |= each.bits;
            count += each.count;
        }
        EXPECT_EQ(set, expected);
        EXPECT_EQ(count, order.size());
    }
}

}
