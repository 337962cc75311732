// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/purge/slice_pages.hpp>

#include <gtest/gtest.h>

namespace {

using tenure::bit_word;
using namespace tenure::detail;

TEST(slice_pages, neighbours_are_the_slices_of_the_same_os_pages) {
    EXPECT_EQ(with_neighbours(0, 2), 0u);
    EXPECT_EQ(with_neighbours(0b0100'0010, 2), 0b1100'0011u);
    EXPECT_EQ(with_neighbours(0b0001'0000, 4), 0b1111'0000u);
    EXPECT_EQ(with_neighbours(bit_word{1} << 63, 2), bit_word{3} << 62);
    EXPECT_EQ(with_neighbours(~bit_word{0}, 64), ~bit_word{0});
}

TEST(slice_pages, whole_pages_have_all_their_slices) {
    const bit_word all = ~bit_word{0};
    if (slices_of_os_page() == 1) {
        EXPECT_EQ(in_whole_os_pages(0b0110), 0b0110u);
        EXPECT_EQ(os_pages_of(0b0110), 0b0110u);
    } else { // on a system with such pages, and in tests/page_sizes
        ASSERT_EQ(slices_of_os_page(), 2u);
        EXPECT_EQ(in_whole_os_pages(0b0110), 0u);
        EXPECT_EQ(in_whole_os_pages(0b1101), 0b1100u);
        EXPECT_EQ(os_pages_of(0b0110), 0b1111u);
    }
    EXPECT_EQ(in_whole_os_pages(all), all);
    EXPECT_EQ(in_whole_os_pages(0), 0u);
}

}
