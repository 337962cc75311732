// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/detail/leading_digits.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr int width = 128;

/// A positive number that is known up to an error: mantissa * 2 ^ exponent, or more by a factor of at most
/// 1 + error * 2 ^ -127. The highest bit of the mantissa is set.
struct estimate {
    wide_word mantissa;
    int exponent;
    std::uint32_t error;
};

constexpr std::uint64_t high_of(wide_word number) noexcept { return static_cast<std::uint64_t>(number >> 64); }
constexpr std::uint64_t low_of(wide_word number) noexcept { return static_cast<std::uint64_t>(number); }

/// The upper half of the product, rounded down.
constexpr wide_word upper_product(wide_word left, wide_word right) noexcept {
    const wide_word low = wide_word{low_of(left)} * low_of(right);
    const wide_word first = wide_word{high_of(left)} * low_of(right) + high_of(low);
    const wide_word second = wide_word{low_of(left)} * high_of(right) + low_of(first);
    return wide_word{high_of(left)} * high_of(right) + high_of(first) + high_of(second);
}

/// Relative errors add up; their product is far below one. The upper half of the product is at least 2 ^ 126, so
/// rounding it down costs at most 2 ^ -126.
constexpr estimate product(const estimate& left, const estimate& right) noexcept {
    estimate made{upper_product(left.mantissa, right.mantissa), left.exponent + right.exponent + width,
                  left.error + right.error + 3};
    if (high_of(made.mantissa) >> 63 == 0) {
        made.mantissa <<= 1;
        --made.exponent;
    }
    return made;
}

/// Powers of five, or of a fifth, whose exponents are powers of two: enough for 10 ^ 8191.
using power_table = std::array<estimate, 13>;

constexpr power_table squares_from(estimate first) noexcept {
    power_table table{};
    for (estimate& each : table) {
        each = first;
        first = product(first, first);
    }
    return table;
}
// Five is exact; a fifth is 0.110011... * 2 ^ -2, rounded down.
constexpr power_table powers_of_five = squares_from({wide_word{5} << (width - 3), 3 - width, 0});
constexpr power_table powers_of_a_fifth = squares_from({~wide_word{0} / 5 << 2, -width - 2, 1});
static_assert(powers_of_five.back().error < 1u << 16 && powers_of_a_fifth.back().error < 1u << 16);

/// The number's logarithm to base 10, rounded down, of 2 ^ `bit`; one less when it is close to the next one.
/// Requires  `bit` is below 2 ^ 20.
constexpr int decimal_exponent(int bit) noexcept {
    constexpr std::int64_t logarithm_of_two = 1'292'913'986; // * 2 ^ -32, rounded down
    return static_cast<int>(bit * logarithm_of_two >> 32);
}

}

leading_digits find_leading_digits(wide_word mantissa, int exponent) noexcept {
    if (mantissa == 0) return {};
    const int zeros =
        high_of(mantissa) != 0 ? std::countl_zero(high_of(mantissa)) : 64 + std::countl_zero(low_of(mantissa));
    estimate number{mantissa << zeros, exponent - zeros, 0};
    // The number times 10 ^ scale is 10 ^ 17 to 2 * 10 ^ 18, or ten times that where the logarithm was one less.
    const int scale = 17 - decimal_exponent(number.exponent + width - 1);
    const power_table& powers = scale < 0 ? powers_of_a_fifth : powers_of_five;
    unsigned rest = static_cast<unsigned>(scale < 0 ? -scale : scale);
    if (rest >> powers.size() != 0) return {};
    for (std::size_t power = 0; rest != 0; ++power, rest >>= 1) {
        if (rest % 2 != 0) number = product(number, powers[power]);
    }
    const int fraction_bits = -(number.exponent + scale);
    if (fraction_bits < 64 || fraction_bits >= width) return {};
    const wide_word one = wide_word{1} << fraction_bits;
    const wide_word fraction = number.mantissa & (one - 1);
    const wide_word above = fraction + 2 * wide_word{number.error}; // a mantissa is below 2 ^ 128
    if (fraction == 0 || above >= one) return {};
    return {static_cast<std::uint64_t>(number.mantissa >> fraction_bits), -scale};
}

}
