// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The exact decimal digits of a binary floating-point number, as many as a text needs, and their rounding.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <tenure/base/config.hpp>
#include <tenure/text/detail/digits.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// A floating-point number in parts: mantissa * 2 ^ exponent.
struct binary_value {
    enum class kind : unsigned char { finite, infinity, nan };

    wide_word mantissa = 0;
    int exponent = 0;
    bool is_negative = false;
    kind what = kind::finite;

    explicit binary_value(double value) noexcept;
    explicit binary_value(long double value) noexcept;

private:
    /// For formats in which the first bit of the mantissa is not stored.
    void read(wide_word bits, int stored_bits, int exponent_bits) noexcept;
};

/// Room for the digits of any value of a type: 1 KiB for double, 14 KiB for an 80-bit long double.
template<class Float>
struct digit_room {
    using limits = std::numeric_limits<Float>;
    /// Exponent of the last bit of the smallest value.
    static constexpr int lowest = limits::min_exponent - limits::digits;
    static constexpr std::size_t words = static_cast<std::size_t>(-lowest) / 64 + 3;
    /// The longest are the fractions of the smallest normal numbers: 2 ^ digits * 5 ^ -lowest. 0.302 and 0.699 are the
    /// logarithms of two and five. Digits come nineteen at a time.
    static constexpr std::size_t bytes =
        (static_cast<std::size_t>(limits::digits) * 302 + static_cast<std::size_t>(-lowest) * 699) / 1000 + 2 * 19 + 2;

    std::uint64_t number[words];
    char text[bytes];
};

/// 0.d1d2d3... * 10 ^ point, where d1 is not zero; zero is 0.0 * 10 ^ 1. Digits past the last one are zero.
class decimal_digits {
public:
    /// How many digits a text needs: after the point, or from the first one that is not zero.
    enum class counted : unsigned char { after_point, significant };

    /// Finds at least `wanted` digits, and rounds to them: to nearest, ties to even.
    /// Requires  `value` is finite; the room outlives this.
    template<class Float>
    decimal_digits(const binary_value& value, digit_room<Float>& room, counted what, std::int64_t wanted) noexcept
        : first_(room.text) {
        const bool is_found = what == counted::significant && expand_leading(value, wanted);
        if (value.mantissa == 0)
            expand_zero();
        else if (!is_found && value.exponent >= 0)
            expand_whole(value, room.number, room.text + sizeof room.text);
        else if (!is_found)
            expand(value, room.number, what, wanted);
        round(what == counted::after_point ? point_ + wanted : wanted);
    }

    [[nodiscard]] const char* first() const noexcept { return first_; }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] std::int64_t point() const noexcept { return point_; }
    /// The digits without trailing zeros; at least one.
    [[nodiscard]] std::int64_t significant_count() const noexcept;

private:
    void expand_zero() noexcept;
    /// Finds `wanted` digits and one more without the others. Returns   false, with nothing done, where it cannot.
    [[nodiscard]] bool expand_leading(const binary_value& value, std::int64_t wanted) noexcept;
    void expand_whole(const binary_value& value, std::uint64_t* words, char* end) noexcept;
    void expand(const binary_value& value, std::uint64_t* words, counted what, std::int64_t wanted) noexcept;
    void append(std::uint64_t chunk) noexcept;
    void round(std::int64_t kept) noexcept;

    char* first_;
    std::int64_t count_ = 0;
    std::int64_t point_ = 0;
    bool has_more_ = false; // digits that are not zero, and that nobody wanted
};

}
