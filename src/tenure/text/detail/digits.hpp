// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Formats numbers of up to eight digits, with and without a decimal point, without branches or loops. The functions of
/// format.hpp and text_writer use this inline. format.cpp handles wider numbers.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tenure/base/compiler.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Whether the machine is little-endian: then a word of digits can be stored as text in one go.
constexpr bool stores_words = std::endian::native == std::endian::little;

/// Short numbers are stored as whole words: this many bytes must be writable, even if the text is shorter.
constexpr std::size_t short_room_bytes = 16;

/// Numbers below this are short.
constexpr std::uint64_t short_limit = 100'000'000;

constexpr std::uint64_t power_of(std::uint64_t base, unsigned exponent) noexcept {
    return exponent == 0 ? 1 : base * power_of(base, exponent - 1);
}

/// The eight digits of a number, including leading zeros, one byte from 0 to 9 each, the first in the lowest byte.
/// Halves, quarters and eighths of the word are divided at once (Khuong, "How to print integers really fast", 2017). A
/// quotient q = x / d stays in the bits below its remainder x - q * d. The remainder shifted up by s is
/// (x << s) - q * (d << s); together with q in the bits below it is (x << s) - q * ((d << s) - 1), which takes one
/// multiplication less.
/// Requires  `number` is below short_limit.
constexpr std::uint64_t eight_digits(std::uint64_t number) noexcept {
    const std::uint64_t high = static_cast<std::uint32_t>(number) / 10'000;
    const std::uint64_t fours = (number << 32) - high * ((std::uint64_t{10'000} << 32) - 1);
    const std::uint64_t hundreds = (fours * 10'486 >> 20) & 0x0000'007F'0000'007F; // / 100, exact below 10 000
    const std::uint64_t twos = (fours << 16) - hundreds * ((100 << 16) - 1);
    const std::uint64_t tens = (twos * 103 >> 10) & 0x000F'000F'000F'000F; // / 10, exact below 100
    return (twos << 8) - tens * ((10 << 8) - 1);
}
constexpr std::uint64_t eight_zeros = 0x3030'3030'3030'3030; // as text

/// Writes the last `count` of eight digits. Words go from registers straight to their destination: copying from a
/// temporary would wait for its stores.
/// Requires  stores_words; eight bytes writable at `to`. Returns   the end of the text.
inline char* put_eight(char* to, std::uint64_t number, unsigned count) noexcept {
    const std::uint64_t text = (eight_digits(number) | eight_zeros) >> 8 * (8 - count);
    std::memcpy(to, &text, 8);
    return to + count;
}

/// Writes a short number with `Precision` of its digits after a decimal point: 1234 with a precision of two is 12.34.
/// There is always a digit before the point.
/// Requires  stores_words; short_room_bytes writable at `to`. Returns   the end of the text.
template<unsigned Precision>
inline char* put_short(char* to, bool is_negative, std::uint64_t number) noexcept {
    static_assert(Precision < 8);
    constexpr unsigned whole_digits = 8 - Precision;
    *to = '-';
    to += is_negative; // otherwise the digits overwrite the sign
    const std::uint64_t digits = eight_digits(number);
    // This bit marks the last digit before the point, which stays even if it is zero.
    const unsigned zeros =
        static_cast<unsigned>(std::countr_zero(digits | std::uint64_t{1} << 8 * (whole_digits - 1))) / 8;
    const std::uint64_t text = digits | eight_zeros;
    const std::uint64_t whole = text >> 8 * zeros;
    std::memcpy(to, &whole, 8);
    to += whole_digits - zeros;
    if constexpr (Precision == 0) {
        return to;
    } else {
        const std::uint64_t fraction = '.' | text >> 8 * whole_digits << 8;
        std::memcpy(to, &fraction, Precision < 4 ? 4 : 8);
        return to + 1 + Precision;
    }
}

/// Bit layout of float and double.
template<class Float>
struct float_bits {
    using word = std::conditional_t<std::is_same_v<Float, float>, std::uint32_t, std::uint64_t>;
    static constexpr unsigned fraction = std::is_same_v<Float, float> ? 23 : 52;
    static constexpr int bias = (std::is_same_v<Float, float> ? 127 : 1023) + static_cast<int>(fraction);
    static constexpr word sign = word{1} << (8 * sizeof(word) - 1);

    static bool is_negative(Float value) noexcept { return (std::bit_cast<word>(value) & sign) != 0; }
    /// The bits without the sign. They grow with the value; infinity and NaN are the largest.
    static word magnitude(Float value) noexcept { return std::bit_cast<word>(value) & ~sign; }
    /// The value is mantissa * 2 ^ (exponent - bias). Subnormal values are treated as normal ones: all round to zero.
    static std::uint64_t mantissa(word magnitude) noexcept {
        return (magnitude & ((word{1} << fraction) - 1)) | word{1} << fraction;
    }
    static int exponent(word magnitude) noexcept { return static_cast<int>(magnitude >> fraction); }
};

/// `product` / 2 ^ `shift`, rounded to nearest, ties to even. Requires  0 < `shift` < bits of Word.
template<class Word>
constexpr Word shifted_to_nearest(Word product, int shift) noexcept {
    const Word doubled = product >> (shift - 1); // the lowest bit is one half
    const bool is_more = doubled << (shift - 1) != product;
    return (doubled + (is_more | (doubled >> 1 & 1))) >> 1;
}

/// Values with `Precision` digits after the point, as whole numbers.
///
/// value * 10 ^ precision is mantissa * 5 ^ precision times a power of two. The first product fits a word, so it is
/// exact, and rounding is a shift. The text is therefore that of printf, whatever the processor's rounding mode and the
/// compiler's floating-point options.
template<class Float, unsigned Precision>
struct short_fixed {
    using bits = float_bits<Float>;
    using bits_word = typename bits::word;
    static constexpr std::uint64_t five = power_of(5, Precision);
    static constexpr int product_bits = static_cast<int>(bits::fraction) + 1 + std::bit_width(five);
    /// Constant number of fraction bits of the shifted product. The bits above hold a short number, and a product that
    /// needs no shift is less than one half. This takes one variable shift where other ways need two.
    static constexpr int point = 64 - std::bit_width(short_limit);
    static constexpr bool is_moved = product_bits < point;
    using word = std::conditional_t<product_bits <= 62, std::uint64_t, wide_word>;
    static constexpr int max_shift = is_moved ? point : 8 * static_cast<int>(sizeof(word)) - 1;

    /// Magnitudes below this give a short number, with a shift of at least one.
    static constexpr bits_word limit() noexcept {
        const auto most =
            static_cast<Float>(static_cast<double>(short_limit - 1) / static_cast<double>(power_of(10, Precision)));
        const bits_word by_number = std::bit_cast<bits_word>(most);
        const bits_word by_shift = static_cast<bits_word>(bits::bias - static_cast<int>(Precision)) << bits::fraction;
        return by_number < by_shift ? by_number : by_shift;
    }

    /// Requires  `magnitude` is below limit().
    static std::uint64_t number(bits_word magnitude) noexcept {
        const int wanted = bits::bias - static_cast<int>(Precision) - bits::exponent(magnitude);
        const int shift = wanted < max_shift ? wanted : max_shift; // less than one half is left in both cases
        const word product = static_cast<word>(bits::mantissa(magnitude)) * five;
        if constexpr (is_moved) {
            const std::uint64_t moved = product << (point - shift);
            const std::uint64_t odd = moved >> point & 1;
            return (moved + ((std::uint64_t{1} << (point - 1)) - 1) + odd) >> point;
        } else {
            return static_cast<std::uint64_t>(shifted_to_nearest(product, shift));
        }
    }
};

/// Whether a precision has a fast form, for most values.
template<unsigned Precision>
constexpr bool has_short_form = (Precision < 8) && stores_words;

/// Writes a value as put_short() does if it is short and has `room`; otherwise returns nullptr.
template<unsigned Precision, class Float>
inline char* put_short_fixed(char* to, std::size_t room, Float value) noexcept {
    if constexpr (has_short_form<Precision>) {
        using scaled = short_fixed<Float, Precision>;
        const auto magnitude = scaled::bits::magnitude(value);
        if (room >= short_room_bytes && magnitude < scaled::limit()) [[likely]]
            return put_short<Precision>(to, scaled::bits::is_negative(value), scaled::number(magnitude));
    }
    return nullptr;
}

/// Bytes for a number of 64 bits, with a sign and a point, plus those written after it because words are stored whole.
constexpr std::size_t number_room_bytes = 32;

/// The same for the sign and magnitude of an integer.
inline char* put_short_integer(char* to, std::size_t room, bool is_negative, std::uint64_t size) noexcept {
    if constexpr (stores_words) {
        if (room >= short_room_bytes && size < short_limit) [[likely]]
            return put_short<0>(to, is_negative, size);
    }
    return nullptr;
}

}
