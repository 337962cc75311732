// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/format.hpp>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cinttypes>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "text/counted_malloc.hpp"
#include "text/printed.hpp"

namespace {

using tenure::format_fixed, tenure::format_integer, tenure::max_precision;
using text_tests::printed;

constexpr unsigned all_precisions = 23; // past the last one that is done without std::to_chars

class formatting : public testing::Test {
protected:
    formatting() { RecordProperty("seed", std::to_string(seed_)); }
    ~formatting() override { EXPECT_EQ(wrong_, 0u) << "the seed was " << seed_; }

    template<unsigned Precision, class Float>
    void compare_at(Float value) {
        char room[512];
        const std::size_t size = format_fixed<Precision>(room, sizeof room, value);
        expect(std::string_view(room, size), value, Precision);
    }
    template<class Float>
    void compare(Float value, unsigned precision) {
        char room[512];
        const std::size_t size = format_fixed(room, sizeof room, value, precision);
        expect(std::string_view(room, size), value, precision);
    }
    /// By both forms, at each precision.
    template<class Float>
    void compare(Float value) {
        [&]<unsigned... Precision>(std::integer_sequence<unsigned, Precision...>) {
            (compare_at<Precision>(value), ...);
        }
        (std::make_integer_sequence<unsigned, 10>{});
        for (unsigned precision = 0; precision < all_precisions; ++precision) compare(value, precision);
    }

    /// Counts, and tells the first ones: a test of millions of values must not print millions of lines.
    template<class Float>
    void expect(std::string_view text, Float value, unsigned precision) {
        const printed right(value, precision);
        if (text == right.view()) return;
        if (++wrong_ > 5) return;
        ADD_FAILURE() << text << " instead of " << right.view() << ", precision " << precision << ", seed " << seed_;
    }

    std::uint64_t seed_ = support::new_seed();
    support::random random_{seed_};
    std::size_t wrong_ = 0;
};

TEST_F(formatting, awkward_floats_are_printed_as_printf_does) {
    for (const float value : text_tests::awkward_values<float>()) compare(value);
}

TEST_F(formatting, awkward_doubles_are_printed_as_printf_does) {
    for (const double value : text_tests::awkward_values<double>()) compare(value);
}

TEST_F(formatting, floats_of_any_bits_are_printed_as_printf_does) {
    for (int count = 0; count < 10'000; ++count)
        compare(std::bit_cast<float>(static_cast<std::uint32_t>(random_.next())));
}

TEST_F(formatting, doubles_of_any_bits_are_printed_as_printf_does) {
    for (int count = 0; count < 3'000; ++count) compare(std::bit_cast<double>(random_.next()));
}

TEST_F(formatting, numbers_of_common_size_are_printed_as_printf_does) {
    for (int count = 0; count < 8'000; ++count) {
        const double value =
            std::ldexp(static_cast<double>(random_.next() >> 11), -static_cast<int>(random_.below(70)));
        compare(count % 2 == 0 ? value : -value);
        compare(static_cast<float>(value));
    }
}

TEST_F(formatting, halves_go_to_the_even_digit_and_their_neighbours_where_they_belong) {
    for (int count = 0; count < 8'000; ++count) {
        // A few bits behind the point: ties at every precision up to their number.
        const double tie =
            std::ldexp(static_cast<double>(random_.below(1 << 20)), -static_cast<int>(random_.below(20)));
        for (const double value : {tie, std::nextafter(tie, 1e9), std::nextafter(tie, -1.0), -tie}) compare(value);
        const auto narrow = static_cast<float>(tie);
        for (const float value : {narrow, std::nextafter(narrow, 1e9f), std::nextafter(narrow, -1.0f)}) compare(value);
    }
}

TEST_F(formatting, what_looks_like_a_half_in_decimal_is_rounded_by_its_exact_value) {
    for (int count = 0; count < 8'000; ++count) {
        const double value = (static_cast<double>(random_.below(100'000'000)) + 0.5) /
                             std::pow(10.0, static_cast<double>(random_.below(9)));
        compare(value);
        compare(static_cast<float>(value));
    }
}

TEST_F(formatting, every_precision_up_to_the_most_is_exact) {
    for (const double value : {0.1, -2.5, 1e15 / 3, 5e-324, 1.7976931348623157e308, 123456789.987654321, 1e-30})
        for (unsigned precision = 0; precision <= max_precision; ++precision) {
            compare(value, precision);
            compare(static_cast<float>(value), precision);
        }
}

TEST_F(formatting, the_processors_rounding_mode_has_no_say) {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        for (const double value : {0.001, -0.001, 2.675, 0.125, -0.375, 1e6 / 3, 12345678.5, 1e17 / 3}) {
            const printed right(value, 2); // in the mode that the program began with
            const float narrow_value = static_cast<float>(value);
            const printed right_narrow(narrow_value, 2);
            char room[64], narrow[64];
            std::fesetround(mode);
            const std::size_t size = format_fixed<2>(room, sizeof room, value);
            const std::size_t narrow_size = format_fixed<2>(narrow, sizeof narrow, narrow_value);
            std::fesetround(FE_TONEAREST);
            EXPECT_EQ(std::string_view(room, size), right.view()) << mode;
            EXPECT_EQ(std::string_view(narrow, narrow_size), right_narrow.view()) << mode;
        }
    }
}

/// Formats into rooms of every size around what is needed, and looks at the bytes behind.
template<class Format>
void expect_bounds(std::string_view right, Format&& format) {
    for (std::size_t room = 0; room <= right.size() + 40; ++room) {
        std::array<char, 512> memory;
        memory.fill('#');
        ASSERT_EQ(format(memory.data() + 8, room), right.size()) << right << ", " << room << " bytes";
        for (std::size_t byte = 0; byte < 8; ++byte) ASSERT_EQ(memory[byte], '#');
        for (std::size_t byte = 8 + room; byte < memory.size(); ++byte)
            ASSERT_EQ(memory[byte], '#') << right << ", byte " << byte - 8 << " of " << room;
        const std::string_view written(memory.data() + 8, right.size());
        if (room >= right.size()) {
            ASSERT_EQ(written, right);
        } else {
            ASSERT_EQ(memory[8], '#') << "what does not fit is not begun";
        }
    }
}

TEST_F(formatting, every_room_from_none_to_enough_says_what_is_needed_and_is_not_left) {
    const auto both = [](auto value) {
        const printed two(value, 2), seven(value, 7), thirty(value, 30);
        expect_bounds(two.view(), [&](char* to, std::size_t room) { return format_fixed<2>(to, room, value); });
        expect_bounds(two.view(), [&](char* to, std::size_t room) { return format_fixed(to, room, value, 2); });
        expect_bounds(seven.view(), [&](char* to, std::size_t room) { return format_fixed<7>(to, room, value); });
        expect_bounds(thirty.view(), [&](char* to, std::size_t room) { return format_fixed<30>(to, room, value); });
    };
    for (const double value : {0.0, -0.0, 1.5, -999.25, 123456.75, -12345678.5, 1e18, -1e20, 1e300}) both(value);
    for (const float value : {0.0f, -0.0f, 1.5f, -999.25f, 3.4e38f, -1e-40f}) both(value);
    both(std::numeric_limits<double>::infinity());
    both(-std::numeric_limits<float>::infinity());
    both(std::numeric_limits<float>::quiet_NaN());
    both(-std::numeric_limits<double>::quiet_NaN());
}

TEST_F(formatting, the_stated_bounds_are_reached_and_not_passed) {
    char room[512];
    EXPECT_EQ(format_fixed(room, sizeof room, -std::numeric_limits<float>::max(), 2), tenure::fixed_bytes<float>(2));
    EXPECT_EQ(format_fixed(room, sizeof room, -std::numeric_limits<double>::max(), max_precision),
              tenure::fixed_bytes<double>(max_precision));
    EXPECT_EQ(format_fixed(room, sizeof room, -std::numeric_limits<double>::max(), 0), tenure::fixed_bytes<double>(0));
    EXPECT_EQ(format_integer(room, sizeof room, INT64_MIN), tenure::integer_bytes<std::int64_t>());
    EXPECT_EQ(format_integer(room, sizeof room, UINT64_MAX), tenure::integer_bytes<std::uint64_t>());
    EXPECT_EQ(format_integer(room, sizeof room, std::int8_t{-128}), tenure::integer_bytes<std::int8_t>());
}

template<class Integer>
void expect_integer(Integer value) {
    char right[32], room[64];
    const int size = std::is_signed_v<Integer>
                         ? std::snprintf(right, sizeof right, "%" PRIdMAX, static_cast<std::intmax_t>(value))
                         : std::snprintf(right, sizeof right, "%" PRIuMAX, static_cast<std::uintmax_t>(value));
    const std::size_t written = format_integer(room, sizeof room, value);
    ASSERT_EQ(std::string_view(room, written), std::string_view(right, static_cast<std::size_t>(size)));
}

template<class Integer>
class integers : public testing::Test {};
using all_integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                    std::int64_t, std::uint64_t, long long, unsigned long long>;
TYPED_TEST_SUITE(integers, all_integers);

TYPED_TEST(integers, are_printed_as_printf_does) {
    using limits = std::numeric_limits<TypeParam>;
    for (const TypeParam value : {limits::min(), limits::max(), TypeParam{0}, TypeParam{1}}) expect_integer(value);
    std::uint64_t power = 1;
    for (int digits = 0; digits < 20; ++digits, power *= 10)
        for (const std::uint64_t near : {power - 1, power, power + 1, 0 - power, 1 - power})
            expect_integer(static_cast<TypeParam>(near));
    support::random random(support::new_seed());
    for (int count = 0; count < 100'000; ++count)
        expect_integer(static_cast<TypeParam>(random.next() >> random.below(64)));
}

TEST_F(formatting, integers_say_what_is_needed_and_keep_their_room) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{12345678}, std::int64_t{123456789},
                                     std::int64_t{10'000'000'000'000'000}, INT64_MIN})
        expect_bounds(std::to_string(value),
                      [&](char* to, std::size_t room) { return format_integer(to, room, value); });
}

TEST_F(formatting, nothing_is_allocated_for_any_value) {
    if (!text_tests::malloc_calls()) GTEST_SKIP() << "the sanitizer's malloc cannot be counted";
    static char room[512];
    const auto floats = text_tests::awkward_values<float>();
    const auto doubles = text_tests::awkward_values<double>();
    std::size_t written = 0;
    const auto before = text_tests::malloc_calls();
    for (unsigned precision = 0; precision <= max_precision; ++precision) {
        for (const float value : floats) written += format_fixed(room, sizeof room, value, precision);
        for (const double value : doubles) written += format_fixed(room, precision * 5, value, precision);
    }
    for (const double value : doubles) written += format_fixed<2>(room, sizeof room, value);
    written += format_integer(room, sizeof room, INT64_MIN);
    EXPECT_EQ(text_tests::malloc_calls(), before);
    EXPECT_NE(written, 0u);
    void* const volatile block = std::malloc(10); // calls are seen
    std::free(block);
    EXPECT_NE(text_tests::malloc_calls(), before);
}

}
