// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/segment.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace {

using tenure::bit_word;
using tenure::detail::segment;
using tenure::detail::segment_layout;

TEST(segment_layout, every_layout_has_room_for_its_bits_and_its_blocks) {
    for (std::size_t segment_bytes = 4096; segment_bytes <= std::size_t{4} << 30; segment_bytes *= 4) {
        for (std::size_t alignment : {std::size_t{1}, std::size_t{8}, std::size_t{64}, std::size_t{4096}}) {
            for (std::size_t bytes : {std::size_t{1}, std::size_t{3}, std::size_t{8}, std::size_t{280},
                                      std::size_t{5000}, std::size_t{100'000}}) {
                const std::size_t stride = tenure::align_up(bytes, alignment);
                const segment_layout layout = segment_layout::of(segment_bytes, stride, alignment);
                if (layout.capacity == 0) continue;
                EXPECT_LE(layout.blocks_offset + layout.capacity * stride, segment_bytes);
                EXPECT_EQ(layout.blocks_offset % alignment, 0u);
                EXPECT_EQ(layout.blocks_offset % tenure::cache_line_bytes, 0u);
                EXPECT_GE(layout.word_count * 64, layout.capacity);
                EXPECT_GE(layout.level1_words * 64, layout.word_count);
                EXPECT_GE(layout.level2_words * 64, layout.level1_words);
                const std::size_t summaries = (layout.level1_words + layout.level2_words) * sizeof(bit_word);
                EXPECT_LE(sizeof(segment) + summaries, layout.level0_offset);
                EXPECT_LE(layout.level0_offset + layout.word_count * sizeof(bit_word), layout.blocks_offset);
            }
        }
    }
}

TEST(segment_layout, the_multiplication_finds_the_number_of_every_block) {
    for (std::size_t stride = 1; stride < std::size_t{256} << 20; stride = stride * 3 / 2 + 1) {
        const segment_layout layout = segment_layout::of(std::size_t{4} << 30, stride, 1);
        const std::size_t step = std::max<std::size_t>(layout.capacity / 5000, 1);
        for (std::size_t index = 0; index < layout.capacity; index += step)
            ASSERT_EQ(layout.index_of(index * stride), index) << "stride " << stride;
        ASSERT_EQ(layout.index_of((layout.capacity - 1) * stride), layout.capacity - 1) << "stride " << stride;
    }
}

TEST(segment_layout, a_segment_too_small_for_one_block_has_none) {
    EXPECT_EQ(segment_layout::of(4096, 4096, 16).capacity, 0u);
    EXPECT_EQ(segment_layout::of(4096, 1 << 20, 16).capacity, 0u);
    EXPECT_EQ(segment_layout::of(4096, 8, 4096).capacity, 0u);
    EXPECT_GT(segment_layout::of(4096, 3900, 16).capacity, 0u);
}

class segments : public testing::Test {
protected:
    segments() : memory_(bytes / sizeof(line)), layout_(segment_layout::of(bytes, 8, 8)) {
        first_ = new (memory_.data()) segment{};
        first_->groups_used = first_->groups_touched = layout_.word_count;
        first_->is_partial = true;
    }

    void free(std::size_t word, bit_word blocks) {
        first_->level0(layout_)[word] |= blocks;
        first_->summarise(layout_, word);
    }

    static constexpr std::size_t bytes = 1 << 20;
    struct alignas(64) line {
        unsigned char bytes[64];
    };
    std::vector<line> memory_; // zeroed; of() is not asked here, so its alignment does not matter
    segment_layout layout_;
    segment* first_ = nullptr;
};

TEST_F(segments, the_lowest_word_with_free_blocks_comes_first) {
    EXPECT_FALSE(first_->has_free(layout_));
    const std::vector<std::size_t> words{5, 64, 65, 700, 1000, layout_.word_count - 1};
    for (auto word = words.rbegin(); word != words.rend(); ++word) free(*word, 0b10'1000);
    std::size_t free_count = 0;
    EXPECT_TRUE(first_->valid(layout_, free_count));
    EXPECT_EQ(free_count, 2 * words.size());
    for (std::size_t expected : words) {
        ASSERT_TRUE(first_->has_free(layout_));
        EXPECT_EQ(first_->lowest_word(layout_), expected);
        first_->level0(layout_)[expected] = 0;
        first_->forget_word(layout_, expected);
    }
    EXPECT_FALSE(first_->has_free(layout_));
    EXPECT_TRUE(first_->valid(layout_, free_count));
}

TEST_F(segments, a_word_without_free_blocks_may_not_stay_in_the_summary) {
    std::size_t free_count = 0;
    free(70, 1);
    free(71, 1);
    first_->level0(layout_)[70] = 0;
    EXPECT_FALSE(first_->valid(layout_, free_count));
    first_->forget_word(layout_, 70);
    EXPECT_TRUE(first_->valid(layout_, free_count));
    EXPECT_EQ(first_->lowest_word(layout_), 71u);
}

TEST_F(segments, a_torn_summary_is_not_valid) {
    std::size_t free_count = 0;
    free(70, 1);
    EXPECT_TRUE(first_->valid(layout_, free_count));
    first_->level1(layout_)[1] = 0;
    EXPECT_FALSE(first_->valid(layout_, free_count));
    first_->summarise(layout_, 70);
    EXPECT_TRUE(first_->valid(layout_, free_count));
    first_->level0(layout_)[71] = 1;
    EXPECT_FALSE(first_->valid(layout_, free_count));
    first_->forget(layout_);
    first_->groups_touched = 0;
    EXPECT_TRUE(first_->valid(layout_, free_count));
}

TEST_F(segments, a_free_bit_of_a_block_that_was_never_handed_out_is_not_valid) {
    std::size_t free_count = 0;
    first_->groups_used = 2;
    free(2, 1);
    EXPECT_FALSE(first_->valid(layout_, free_count));
}

}
