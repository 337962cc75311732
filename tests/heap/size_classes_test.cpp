// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/size_classes.hpp>

#include <gtest/gtest.h>

namespace {

namespace detail = tenure::detail;

TEST(size_classes, each_size_gets_the_smallest_class_that_holds_it) {
    for (std::size_t bytes = 1; bytes <= detail::max_small_bytes; ++bytes) {
        const std::size_t index = detail::class_of(bytes);
        ASSERT_LT(index, detail::small_class_count);
        ASSERT_GE(detail::class_bytes(index), bytes);
        if (index != 0) {
            ASSERT_LT(detail::class_bytes(index - 1), bytes);
        }
    }
    EXPECT_EQ(detail::class_of(0), 0u);
}

TEST(size_classes, at_most_a_quarter_of_a_block_is_lost_past_128_bytes) {
    for (std::size_t bytes = 129; bytes <= detail::max_small_bytes; ++bytes)
        ASSERT_LE((detail::class_bytes(detail::class_of(bytes)) - bytes) * 4, bytes);
}

TEST(size_classes, every_power_of_two_is_one_and_all_past_eight_are_multiples_of_sixteen) {
    for (std::size_t bytes = 8; bytes <= detail::max_small_bytes; bytes *= 2)
        EXPECT_EQ(detail::class_bytes(detail::class_of(bytes)), bytes);
    for (std::size_t index = 1; index < detail::small_class_count; ++index)
        EXPECT_EQ(detail::class_bytes(index) % 16, 0u) << index;
}

}
