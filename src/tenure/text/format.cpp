// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/format.hpp>

#include <charconv>
#include <cstring>
#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/text/detail/printf_conversion.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

using detail::float_bits, detail::number_room_bytes, detail::power_of, detail::put_eight, detail::wide_word;

/// Maximum precision at which the product of a 53-bit mantissa and a power of five is exact with plenty to spare, and
/// at which a number below one has at most the digits that 64 bits hold.
constexpr unsigned max_exact_precision = 19;

struct powers {
    std::uint64_t of[max_exact_precision + 1];
};
constexpr powers powers_of(std::uint64_t base) {
    powers made{};
    for (unsigned exponent = 0; exponent <= max_exact_precision; ++exponent)
        made.of[exponent] = power_of(base, exponent);
    return made;
}
constexpr powers fives = powers_of(5), tens = powers_of(10);

constexpr std::uint64_t eights = detail::short_limit, sixteens = eights * eights;

char* put_whole(char* to, bool is_negative, std::uint64_t number) noexcept {
    if (number < eights) return detail::put_short<0>(to, is_negative, number);
    if (number < sixteens) {
        to = detail::put_short<0>(to, is_negative, number / eights);
    } else {
        to = detail::put_short<0>(to, is_negative, number / sixteens);
        to = put_eight(to, number / eights % eights, 8);
    }
    return put_eight(to, number % eights, 8);
}

/// Writes the digits including leading zeros. Requires  `count` is not zero.
char* put_fraction(char* to, std::uint64_t number, unsigned count) noexcept {
    if (count > 16) to = put_eight(to, number / sixteens, count - 16);
    if (count > 8) to = put_eight(to, number / eights % eights, count > 16 ? 8 : count - 8);
    return put_eight(to, number % eights, count > 8 ? 8 : count);
}

/// Writes digit by digit, from the last one: for big-endian machines.
char* put_slowly(char* to, bool is_negative, std::uint64_t number, unsigned precision) noexcept {
    char text[number_room_bytes];
    char* first = text + sizeof text;
    for (unsigned digits = 0; number != 0 || digits <= precision; ++digits, number /= 10) {
        if (digits == precision && digits != 0) *--first = '.';
        *--first = static_cast<char>('0' + number % 10);
    }
    if (is_negative) *--first = '-';
    const auto bytes = static_cast<std::size_t>(text + sizeof text - first);
    std::memcpy(to, first, bytes);
    return to + bytes;
}

/// Writes a number with its last `precision` digits after a point. Requires  number_room_bytes writable at `to`.
char* put_with_point(char* to, bool is_negative, std::uint64_t number, unsigned precision) noexcept {
    if (!detail::stores_words) return put_slowly(to, is_negative, number, precision);
    if (precision == 0) return put_whole(to, is_negative, number);
    const std::uint64_t whole = number / tens.of[precision];
    to = put_whole(to, is_negative, whole);
    *to++ = '.';
    return put_fraction(to, number - whole * tens.of[precision], precision);
}

std::size_t put_number(char* to, std::size_t room, bool is_negative, std::uint64_t number,
                       unsigned precision) noexcept {
    if (room >= number_room_bytes)
        return static_cast<std::size_t>(put_with_point(to, is_negative, number, precision) - to);
    char text[number_room_bytes];
    const auto needed = static_cast<std::size_t>(put_with_point(text, is_negative, number, precision) - text);
    if (needed <= room) std::memcpy(to, text, needed);
    return needed;
}

std::size_t put_word(char* to, std::size_t room, bool is_negative, std::string_view word) noexcept {
    const std::size_t needed = is_negative + word.size();
    if (needed > room) return needed;
    *to = '-';
    std::memcpy(to + is_negative, word.data(), word.size());
    return needed;
}

/// The rest: huge values and extreme precisions. std::to_chars is exact for all of them, and allocates nothing for
/// float and double. It does not report the size it needs, so it writes into a local buffer.
std::size_t put_any(char* to, std::size_t room, double value, unsigned precision) noexcept {
    char text[fixed_bytes<double>(max_precision)];
    const auto written =
        std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, static_cast<int>(precision));
    const auto needed = static_cast<std::size_t>(written.ptr - text);
    if (needed <= room) std::memcpy(to, text, needed);
    return needed;
}

/// Computes value * 10 ^ precision, rounded. Returns   whether it fits 64 bits.
template<class Float>
bool scale(typename float_bits<Float>::word magnitude, unsigned precision, std::uint64_t& number) noexcept {
    using bits = float_bits<Float>;
    if (precision > max_exact_precision) return false;
    // 53 bits and 45 of the power of five: below 2^98.
    const wide_word product = static_cast<wide_word>(bits::mantissa(magnitude)) * fives.of[precision];
    const int shift = bits::bias - static_cast<int>(precision) - bits::exponent(magnitude);
    wide_word scaled = 0;
    if (shift >= 100) {
        scaled = 0; // less than one quarter
    } else if (shift > 0) {
        scaled = detail::shifted_to_nearest(product, shift);
    } else {
        if (shift < -20) return false; // so that the product keeps all its bits
        scaled = product << -shift;
    }
    number = static_cast<std::uint64_t>(scaled);
    return scaled >> 64 == 0;
}

template<class Float>
std::size_t put_fixed(char* to, std::size_t room, Float value, unsigned precision) noexcept {
    using bits = float_bits<Float>;
    constexpr typename bits::word infinity = ~bits::sign >> bits::fraction << bits::fraction;
    if (precision > max_precision) {
        if constexpr (checks::caller)
            report_misuse("format_fixed got a precision above 64", nullptr, "max_precision is the maximum.");
        precision = max_precision;
    }
    const auto magnitude = bits::magnitude(value);
    const bool is_negative = bits::is_negative(value);
    if (magnitude >= infinity) return put_word(to, room, is_negative, magnitude == infinity ? "inf" : "nan");
    std::uint64_t number = 0;
    if (scale<Float>(magnitude, precision, number)) return put_number(to, room, is_negative, number, precision);
    return put_any(to, room, static_cast<double>(value), precision);
}

}

std::size_t format_fixed(char* to, std::size_t room, float value, unsigned precision) noexcept {
    return put_fixed(to, room, value, precision);
}

std::size_t format_fixed(char* to, std::size_t room, double value, unsigned precision) noexcept {
    return put_fixed(to, room, value, precision);
}

std::size_t detail::put_small_fixed(char* to, double value, unsigned precision) noexcept {
    using bits = float_bits<double>;
    const auto magnitude = bits::magnitude(value);
    std::uint64_t number = 0;
    // Infinity and NaN have the largest exponent, which does not fit.
    if (!scale<double>(magnitude, precision, number)) return 0;
    return static_cast<std::size_t>(put_with_point(to, bits::is_negative(value), number, precision) - to);
}

std::size_t detail::format_integer(char* to, std::size_t room, bool is_negative, std::uint64_t size) noexcept {
    return put_number(to, room, is_negative, size, 0);
}

}
