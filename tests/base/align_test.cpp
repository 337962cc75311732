// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/align.hpp>

#include <gtest/gtest.h>

namespace {

TEST(align, powers_of_two_are_told_from_other_numbers) {
    for (std::size_t bit = 0; bit < 64; ++bit) {
        const std::size_t power = std::size_t{1} << bit;
        EXPECT_TRUE(tenure::is_power_of_two(power));
        if (bit > 1) {
            EXPECT_FALSE(tenure::is_power_of_two(power - 1));
        }
        if (bit > 0) {
            EXPECT_FALSE(tenure::is_power_of_two(power + 1)) << power;
        }
    }
    EXPECT_FALSE(tenure::is_power_of_two(0));
}

TEST(align, rounding_finds_the_nearest_multiple_on_either_side) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (std::uintptr_t value : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{15}, std::uintptr_t{4095},
                                     std::uintptr_t{4096}, std::uintptr_t{0x7fff'ffff'f001}}) {
            const std::uintptr_t up = tenure::align_up(value, alignment);
            const std::uintptr_t down = tenure::align_down(value, alignment);
            EXPECT_EQ(up % alignment, 0u);
            EXPECT_EQ(down % alignment, 0u);
            EXPECT_LT(up - value, alignment);
            EXPECT_LT(value - down, alignment);
        }
    }
}

TEST(align, a_pointer_knows_its_own_alignment) {
    alignas(64) char bytes[65] = {};
    EXPECT_TRUE(tenure::is_aligned(bytes, 64));
    EXPECT_FALSE(tenure::is_aligned(bytes + 1, 2));
    EXPECT_TRUE(tenure::is_aligned(bytes + 1, 1));
    EXPECT_TRUE(tenure::is_aligned(bytes + 64, 64));
    EXPECT_EQ(tenure::pointer_at(tenure::address_of(bytes)), bytes);
}

TEST(align, the_default_serves_every_fundamental_type) {
    EXPECT_GE(tenure::default_alignment, alignof(long double));
    EXPECT_GE(tenure::default_alignment, alignof(void*));
    EXPECT_TRUE(tenure::is_power_of_two(tenure::default_alignment));
}

}
