// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Numbers with huge exponents at every small precision, where the digits behind the first ones are not computed,
// against the C library's, which computes them.

#include <tenure/text/detail/leading_digits.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include <tenure/text/format_printf.hpp>

#include "support/random.hpp"

namespace {

using tenure::detail::find_leading_digits;
using tenure::detail::leading_digits;

constexpr int most_precision = 19; // leading digits answer up to 17, and all digits above

template<class Float>
constexpr bool is_long = std::is_same_v<Float, long double>;

class leading : public testing::Test {
protected:
    ~leading() override { EXPECT_EQ(wrong_, 0u) << "the seed was " << seed_; }

    template<class Float>
    void compare(int precision, Float value) {
        compare(is_long<Float> ? "%.*Le" : "%.*e", precision, value);
        compare(is_long<Float> ? "%.*Lg" : "%.*g", precision, value);
    }
    template<class Float>
    void compare_neighbours(Float value) {
        for (int precision = 0; precision <= most_precision; ++precision) {
            compare(precision, value);
            compare(precision, std::nextafter(value, Float{0}));
            compare(precision, std::nextafter(value, std::numeric_limits<Float>::infinity()));
        }
    }

    const std::uint64_t seed_ = support::new_seed();
    support::random random_{seed_};

private:
    template<class Float>
    void compare(const char* format, int precision, Float value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        char right[64], ours[64];
        const int right_bytes = std::snprintf(right, sizeof right, format, precision, value);
        const int bytes = tenure::format_printf(ours, sizeof ours, format, precision, value);
#pragma GCC diagnostic pop
        if (bytes == right_bytes && std::strcmp(ours, right) == 0) return;
        if (++wrong_ < 5) ADD_FAILURE() << format << ", " << precision << ": " << ours << " instead of " << right;
    }

    std::uint64_t wrong_ = 0;
};

TEST_F(leading, digits_of_random_doubles_are_the_c_librarys) {
    for (int count = 0; count < 200'000; ++count) {
        const auto value = std::bit_cast<double>(random_.next());
        if (std::isfinite(value)) compare(static_cast<int>(random_.below(most_precision + 1)), value);
    }
}

TEST_F(leading, digits_of_random_long_doubles_are_the_c_librarys) {
    using limits = std::numeric_limits<long double>;
    for (int count = 0; count < 100'000; ++count) {
        const long double mantissa = static_cast<long double>(random_.next() | std::uint64_t{1} << 63);
        const auto exponent = static_cast<int>(random_.between(0, limits::max_exponent - limits::min_exponent - 70));
        const long double value = std::ldexp(mantissa, exponent + limits::min_exponent);
        compare(static_cast<int>(random_.below(most_precision + 1)), random_.one_in(2) ? value : -value);
    }
}

TEST_F(leading, digits_of_powers_and_of_their_neighbours_are_the_c_librarys) {
    for (int exponent = -1074; exponent < 1024; exponent += 3) compare_neighbours(std::ldexp(1.0, exponent));
    for (int exponent = -16445; exponent < 16384; exponent += 97) compare_neighbours(std::ldexp(1.0L, exponent));
    char text[32];
    for (int exponent = -4950; exponent < 4932; exponent += 41) {
        for (const char* digits : {"1", "5", "9999999999999999995", "12345678901234565"}) {
            std::snprintf(text, sizeof text, "%se%d", digits, exponent);
            const long double value = std::strtold(text, nullptr);
            if (std::isfinite(value) && value != 0) compare_neighbours(value);
        }
    }
}

TEST(leading_digits, are_eighteen_or_nineteen_of_every_long_double) {
    using limits = std::numeric_limits<long double>;
    constexpr std::uint64_t least = 100'000'000'000'000'000, mantissas[]{std::uint64_t{1} << 63, ~std::uint64_t{0}};
    int refused = 0;
    for (int exponent = limits::min_exponent - limits::digits; exponent < limits::max_exponent - 64; ++exponent) {
        for (const std::uint64_t mantissa : mantissas) {
            const leading_digits found = find_leading_digits(mantissa, exponent);
            if (found.whole == 0) {
                ++refused;
                continue;
            }
            EXPECT_GE(found.whole, least) << exponent;
            const long double value = std::ldexp(static_cast<long double>(mantissa), exponent);
            if (!std::isnormal(value)) continue;
            char right[64], ours[64];
            std::snprintf(right, sizeof right, "%.30Le", value);
            std::snprintf(ours, sizeof ours, "%llu", static_cast<unsigned long long>(found.whole));
            right[1] = right[0]; // the digit before the point
            EXPECT_EQ(std::strncmp(ours, right + 1, std::strlen(ours)), 0) << ours << " instead of " << right;
        }
    }
    EXPECT_LT(refused, 200) << "what has few digits has an exponent that is not huge";
}

TEST(leading_digits, of_what_has_eighteen_digits_are_refused) {
    EXPECT_EQ(find_leading_digits(0, 1000).whole, 0u);
    EXPECT_EQ(find_leading_digits(1, 0).whole, 0u);
    EXPECT_EQ(find_leading_digits(123'456'789, -3).whole, 0u);
    EXPECT_EQ(find_leading_digits(1'000'000'000'000'000'000, 0).whole, 0u);
}

}
