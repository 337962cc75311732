// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/vector_maths.hpp>

#include "buffer/vector_fixture.hpp"

namespace {

using namespace support;
namespace vectors = tenure::vectors;

template<class From>
class vector_conversions : public testing::Test {
protected:
    template<class To>
    static void expect_conversion(support::random& numbers, std::size_t count, std::size_t offset) {
        watched_buffer<From> from(count, offset);
        watched_buffer<To> to(count, offset % watched_buffer<To>::offsets);
        fill_with_any(numbers, from.data(), count);
        vectors::convert(to.data(), count, from.data());
        for (std::size_t i = 0; i < count; ++i) {
            const To expected = reference::converted<To>(from[i]);
            if (!is_same(to[i], expected)) FAIL() << +from[i] << " became " << +to[i] << " instead of " << +expected;
        }
        ASSERT_TRUE(to.has_kept_its_surroundings());
        if constexpr (sizeof(To) == sizeof(From)) {
            const std::vector<From> before(from.data(), from.data() + count);
            vectors::convert(reinterpret_cast<To*>(from.data()), count, from.data());
            ASSERT_EQ(std::memcmp(from.data(), to.data(), count * sizeof(To)), 0) << "in place";
        }
    }

    template<class... To>
    static void expect_conversions(testing::Types<To...>) {
        on_every_target([](support::random& numbers) {
            for_lengths_and_offsets(watched_buffer<From>::offsets, [&](std::size_t count, std::size_t offset) {
                (expect_conversion<To>(numbers, count, offset), ...);
            });
            (expect_conversion<To>(numbers, 20'000, 1), ...);
        });
    }
};

TYPED_TEST_SUITE(vector_conversions, ten_types, type_names);

TYPED_TEST(vector_conversions, agree_with_a_loop) { this->expect_conversions(ten_types{}); }

TEST(vector_conversions_of_integers, round_once_and_to_even) {
    // What goes through a double first is rounded to the middle of two floats, and from there to the wrong one.
    const std::int64_t from[]{0x0080'0000'8000'0001, -0x0080'0000'8000'0001, 0x0100'0000'8000'0000,
                              0x0100'0001'8000'0000, (std::int64_t{1} << 53) + 1};
    on_every_target([&](support::random&) {
        float to[std::size(from)];
        vectors::convert(to, std::size(from), from);
        for (std::size_t i = 0; i < std::size(from); ++i) EXPECT_EQ(to[i], static_cast<float>(from[i])) << from[i];
    });
    EXPECT_NE(static_cast<float>(from[0]), static_cast<float>(static_cast<double>(from[0])));
}

}
