// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Median, spread, ratio and geometric mean: pure functions over the samples of a metric.
///
/// NaN marks a round that failed and is skipped everywhere. The spread is the interquartile range, from the 25th to
/// the 75th percentile with linear interpolation: half of the rounds lie in it, and one round that the machine
/// disturbed does not stretch it. Charts draw the rounds outside it as dots, so nothing is hidden.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace tenure::lab {

/// The centre and the spread of some samples. All NaN when there is none.
struct summary {
    double median;
    double low;        ///< 25th percentile
    double high;       ///< 75th percentile
    std::size_t count; ///< samples that are numbers
    double lowest = std::numeric_limits<double>::quiet_NaN();
    double highest = std::numeric_limits<double>::quiet_NaN();
};

/// With fewer, low and high are the samples themselves, and no spread is shown.
inline constexpr std::size_t min_spread_rounds = 3;

[[nodiscard]] summary summarize(std::span<const double> samples);

/// The value below which `fraction` of the samples lie, between samples by linear interpolation; NaN without samples.
/// Requires  0 <= fraction <= 1.
[[nodiscard]] double quantile(std::span<const double> samples, double fraction);

/// Sample over baseline sample of the same round; NaN where either is missing or the baseline is not above zero. All
/// are NaN when a number on either side is below zero: the difference of two times may be, and the ratio of the rounds
/// that happen not to be would be a false one.
[[nodiscard]] std::vector<double> round_ratios(std::span<const double> samples, std::span<const double> baseline);

/// The n-th root of the product; values that are not above zero are skipped; NaN without values.
[[nodiscard]] double geometric_mean(std::span<const double> values);

/// Whether every sample of one lies below every sample of the other.
[[nodiscard]] bool ranges_apart(const summary& left, const summary& right);

}
