// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <limits>

#include <tenure/text/detail/decimal_digits.hpp>
#include <tenure/text/detail/printf_conversion.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Writes digits from `from` to `end`, with zeros for those past the last one.
void put_digits(bounded_text& to, const decimal_digits& number, std::int64_t from, std::int64_t end) noexcept {
    const std::int64_t stored = std::clamp(number.count(), from, end);
    if (stored != from) to.put(number.first() + from, static_cast<std::size_t>(stored - from));
    if (end != stored) to.fill('0', static_cast<std::uint64_t>(end - stored));
}

void put_fixed(bounded_text& to, const printf_conversion& asked, bool is_negative, const decimal_digits& number,
               std::int64_t precision) noexcept {
    const std::int64_t point = number.point();
    const bool has_point = precision != 0 || asked.has('#');
    const std::int64_t bytes = std::max<std::int64_t>(point, 1) + has_point + precision;
    put_padded_number(to, asked, asked.sign(is_negative), nullptr, 0, static_cast<std::uint64_t>(bytes), true,
                      [&]() noexcept {
                          if (point > 0)
                              put_digits(to, number, 0, point);
                          else
                              to.put('0');
                          if (has_point) to.put('.');
                          const std::int64_t zeros = std::clamp<std::int64_t>(-point, 0, precision);
                          if (zeros != 0) to.fill('0', static_cast<std::uint64_t>(zeros));
                          if (zeros != precision)
                              put_digits(to, number, std::max<std::int64_t>(point, 0), point + precision);
                      });
}

/// Writes an exponent of at least `least` digits, with its letter and its sign. Returns   the bytes written.
std::size_t put_exponent(char* to, char letter, int exponent, int least) noexcept {
    char* at = to;
    *at++ = letter;
    *at++ = exponent < 0 ? '-' : '+';
    unsigned rest = exponent < 0 ? 0U - static_cast<unsigned>(exponent) : static_cast<unsigned>(exponent);
    int digits = 1;
    for (unsigned above = rest / 10; above != 0 || digits < least; above /= 10) ++digits;
    for (int digit = digits; digit-- != 0; rest /= 10) at[digit] = static_cast<char>('0' + rest % 10);
    return static_cast<std::size_t>(at + digits - to);
}

void put_scientific(bounded_text& to, const printf_conversion& asked, bool is_negative, const decimal_digits& number,
                    std::int64_t precision) noexcept {
    char exponent[8];
    const std::size_t exponent_bytes =
        put_exponent(exponent, asked.is_upper() ? 'E' : 'e', static_cast<int>(number.point() - 1), 2);
    const bool has_point = precision != 0 || asked.has('#');
    const auto bytes = static_cast<std::uint64_t>(1 + has_point + precision) + exponent_bytes;
    put_padded_number(to, asked, asked.sign(is_negative), nullptr, 0, bytes, true, [&]() noexcept {
        to.put(*number.first());
        if (has_point) to.put('.');
        if (precision != 0) put_digits(to, number, 1, 1 + precision);
        to.put(exponent, exponent_bytes);
    });
}

void put_word(bounded_text& to, const printf_conversion& asked, const binary_value& value) noexcept {
    const bool is_nan = value.what == binary_value::kind::nan;
    const char* const word = asked.is_upper() ? (is_nan ? "NAN" : "INF") : (is_nan ? "nan" : "inf");
    put_padded_number(to, asked, asked.sign(value.is_negative), nullptr, 0, 3, false,
                      [&]() noexcept { to.put(word, 3); });
}

/// Out of line, so that only those who ask for decimal digits have the room on their stack.
template<class Float>
TENURE_NOINLINE void put_decimal(bounded_text& to, const printf_conversion& asked, const binary_value& value) noexcept {
    digit_room<Float> room;
    using counted = decimal_digits::counted;
    const std::int64_t precision = asked.precision < 0 ? 6 : asked.precision;
    switch (asked.letter | 0x20) {
    case 'f': {
        const decimal_digits number(value, room, counted::after_point, precision);
        return put_fixed(to, asked, value.is_negative, number, precision);
    }
    case 'e': {
        const decimal_digits number(value, room, counted::significant, precision + 1);
        return put_scientific(to, asked, value.is_negative, number, precision);
    }
    default: break;
    }
    const std::int64_t most = std::max<std::int64_t>(precision, 1);
    const decimal_digits number(value, room, counted::significant, most);
    const std::int64_t shown = asked.has('#') ? most : number.significant_count();
    const std::int64_t exponent = number.point() - 1;
    if (exponent >= -4 && exponent < most)
        return put_fixed(to, asked, value.is_negative, number, std::max<std::int64_t>(shown - number.point(), 0));
    put_scientific(to, asked, value.is_negative, number, shown - 1);
}

/// "%a": the first digit is that of the whole stored mantissa, so it is 1 for double and 8 to f for x87's format.
template<class Float>
void put_hexadecimal(bounded_text& to, const printf_conversion& asked, const binary_value& value) noexcept {
    constexpr int fraction_digits = (std::numeric_limits<Float>::digits - 1) / 4;
    wide_word mantissa = value.mantissa;
    int exponent = mantissa == 0 ? 0 : value.exponent + 4 * fraction_digits;
    int stored = fraction_digits; // digits after the point that are written from the mantissa
    if (asked.precision < 0) {
        while (stored != 0 && (mantissa >> 4 * (fraction_digits - stored) & 15) == 0) --stored;
    } else if (asked.precision < fraction_digits) {
        stored = asked.precision;
        const int dropped = 4 * (fraction_digits - stored);
        mantissa = shifted_to_nearest(mantissa, dropped) << dropped;
        if (mantissa >> 4 * (fraction_digits + 1) != 0) {
            mantissa >>= 4;
            exponent += 4;
        }
    }
    const char* const digits = asked.is_upper() ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[32];
    static_assert(fraction_digits + 1 <= int{sizeof text});
    for (int digit = 0; digit <= stored; ++digit)
        text[digit] = digits[static_cast<unsigned>(mantissa >> 4 * (fraction_digits - digit)) & 15];
    char written[8];
    const std::size_t exponent_bytes = put_exponent(written, asked.is_upper() ? 'P' : 'p', exponent, 1);
    const int precision = std::max(asked.precision, stored);
    const bool has_point = precision != 0 || asked.has('#');
    const auto bytes = 1 + static_cast<std::uint64_t>(has_point) + static_cast<std::uint64_t>(precision);
    put_padded_number(to, asked, asked.sign(value.is_negative), asked.is_upper() ? "0X" : "0x", 2,
                      bytes + exponent_bytes, true, [&]() noexcept {
                          to.put(*text);
                          if (has_point) to.put('.');
                          if (stored != 0) to.put(text + 1, static_cast<std::size_t>(stored));
                          if (precision != stored) to.fill('0', static_cast<std::uint64_t>(precision - stored));
                          to.put(written, exponent_bytes);
                      });
}

/// The common case: at most eight digits, with the precision as a constant. Returns   the end of the text, or nullptr.
char* put_short_fixed_of(char* to, double value, unsigned precision) noexcept {
    switch (precision) {
    case 0: return put_short_fixed<0>(to, number_room_bytes, value);
    case 1: return put_short_fixed<1>(to, number_room_bytes, value);
    case 2: return put_short_fixed<2>(to, number_room_bytes, value);
    case 3: return put_short_fixed<3>(to, number_room_bytes, value);
    case 4: return put_short_fixed<4>(to, number_room_bytes, value);
    case 5: return put_short_fixed<5>(to, number_room_bytes, value);
    case 6: return put_short_fixed<6>(to, number_room_bytes, value);
    default: return nullptr;
    }
}

template<class Float>
void put_any(bounded_text& to, const printf_conversion& asked, Float value) noexcept {
    const binary_value parts(value);
    if (parts.what != binary_value::kind::finite) return put_word(to, asked, parts);
    if ((asked.letter | 0x20) == 'a') return put_hexadecimal<Float>(to, asked, parts);
    put_decimal<Float>(to, asked, parts);
}

}

void put_float(bounded_text& to, const printf_conversion& asked, double value) noexcept {
    if ((asked.letter | 0x20) == 'f' && !(asked.precision == 0 && asked.has('#'))) {
        char text[number_room_bytes];
        const unsigned precision = asked.precision < 0 ? 6 : static_cast<unsigned>(asked.precision);
        const char* const end = put_short_fixed_of(text, value, precision);
        const std::size_t bytes =
            end != nullptr ? static_cast<std::size_t>(end - text) : put_small_fixed(text, value, precision);
        if (bytes != 0) [[likely]] {
            if (asked.flags == 0 && asked.width == 0) [[likely]]
                return to.put(text, bytes);
            const bool is_negative = *text == '-';
            return put_padded_number(to, asked, asked.sign(is_negative), nullptr, 0, bytes - is_negative, true,
                                     [&]() noexcept { to.put(text + is_negative, bytes - is_negative); });
        }
    }
    put_any(to, asked, value);
}

void put_float(bounded_text& to, const printf_conversion& asked, long double value) noexcept {
    put_any(to, asked, value);
}

}
