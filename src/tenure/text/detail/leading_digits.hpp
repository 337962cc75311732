// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The first digits of a binary floating-point number with a huge exponent, without the digits behind them.

#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/text/detail/digits.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The number is between whole and whole + 1, exclusively, times 10 ^ exponent.
struct leading_digits {
    std::uint64_t whole = 0; ///< 18 or 19 digits; zero: not found
    int exponent = 0;
};

/// Finds the first digits of mantissa * 2 ^ exponent.
/// Requires  the number is one of a double or long double.
/// Returns   a `whole` of zero if the number is zero, or too close to one with 18 or 19 digits to decide on which side
///           it is.
/// Cost      some 50 ns, whatever the exponent.
[[nodiscard]] leading_digits find_leading_digits(wide_word mantissa, int exponent) noexcept;

}
