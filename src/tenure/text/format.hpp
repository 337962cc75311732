// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Formats numbers into memory that you provide: exactly what printf writes, without any allocation.
///
/// All functions write the text, without a terminating zero, if it fits into `room` bytes at `to`; otherwise nothing.
/// In both cases they return the bytes that it needs. Bytes between its end and `room` may be overwritten.
///
/// Numbers with a decimal point are rounded from the exact value to nearest, ties to even. The locale and the
/// processor's rounding mode have no effect; printf does the same in the rounding mode in which every program starts.
///
/// Cost      5 to 13 ns for up to eight digits, 10 to 40 for up to twenty; for more, the time of std::to_chars.
/// Threads   any.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <tenure/base/config.hpp>
#include <tenure/text/detail/digits.hpp>

namespace tenure::inline TENURE_ABI {

/// Maximum digits after the point. A larger precision counts as this, and checked builds report it.
constexpr unsigned max_precision = 64;

/// The longest text of a value: a sign, every digit of the largest value, a point and the digits after it.
template<std::floating_point Float>
constexpr std::size_t fixed_bytes(unsigned precision) noexcept {
    return 1 + std::numeric_limits<Float>::max_exponent10 + 1 + (precision == 0 ? 0 : 1 + precision);
}

/// Types that are written as numbers: no bool and no character types.
template<class T>
concept text_integer = std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, char> &&
                       !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
                       !std::same_as<T, char32_t>;

template<class T>
concept text_float = std::same_as<T, float> || std::same_as<T, double>;

/// The longest text of an integer, with its sign: 20 for 64 bits.
template<text_integer Integer>
constexpr std::size_t integer_bytes() noexcept {
    return static_cast<std::size_t>(std::numeric_limits<Integer>::digits10) + 1 + std::signed_integral<Integer>;
}

namespace detail {
/// Sign and magnitude of an integer. The magnitude of the lowest value is one more than that of the highest.
template<text_integer Integer>
constexpr std::uint64_t size_of_integer(Integer value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value); // a sign is repeated to the left
    return value < 0 ? 0 - bits : bits;
}
TENURE_API std::size_t format_integer(char* to, std::size_t room, bool is_negative, std::uint64_t size) noexcept;
}

/// Same as printf's "%.*f", also for infinity, NaN ("nan", "-nan") and negative zero.
TENURE_API std::size_t format_fixed(char* to, std::size_t room, float value, unsigned precision) noexcept;
TENURE_API std::size_t format_fixed(char* to, std::size_t room, double value, unsigned precision) noexcept;

/// The same with a precision known at compile time: inline when the value has at most eight digits, including those
/// after the point, and `room` is at least 16 bytes.
template<unsigned Precision, text_float Float>
inline std::size_t format_fixed(char* to, std::size_t room, Float value) noexcept {
    static_assert(Precision <= max_precision);
    if (const char* const end = detail::put_short_fixed<Precision>(to, room, value); end != nullptr) [[likely]]
        return static_cast<std::size_t>(end - to);
    return format_fixed(to, room, value, Precision);
}

template<text_integer Integer>
inline std::size_t format_integer(char* to, std::size_t room, Integer value) noexcept {
    const std::uint64_t size = detail::size_of_integer(value);
    if (const char* const end = detail::put_short_integer(to, room, value < 0, size); end != nullptr) [[likely]]
        return static_cast<std::size_t>(end - to);
    return detail::format_integer(to, room, value < 0, size);
}

}
