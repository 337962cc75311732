// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Median, spread, ratio and geometric mean: pure functions over the samples of a metric.
///
/// NaN marks a failed round and is skipped everywhere. The spread is the interquartile range, from the 25th to the 75th
/// percentile with linear interpolation: it contains half of the rounds, and one disturbed round does not stretch it.
/// Charts draw the rounds outside it as dots, so nothing is hidden.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace tenure::lab {

/// The centre and the spread of some samples. All NaN when there are none. A summary file has neither the range of
/// values nor the spread of ratios: they are NaN although the count is above zero.
struct summary {
    double median;
    double low;        ///< 25th percentile
    double high;       ///< 75th percentile
    std::size_t count; ///< samples that are numbers
    double lowest = std::numeric_limits<double>::quiet_NaN();
    double highest = std::numeric_limits<double>::quiet_NaN();
};

/// With fewer rounds, no spread is shown.
inline constexpr std::size_t min_spread_rounds = 3;

[[nodiscard]] summary summarize(std::span<const double> samples);

/// The value below which `fraction` of the samples lie, with linear interpolation between samples; NaN without samples.
/// Requires  0 <= fraction <= 1.
[[nodiscard]] double quantile(std::span<const double> samples, double fraction);

/// Each sample divided by the baseline sample of the same round; NaN when either is missing or the baseline is not
/// above zero. All are NaN when a number on either side is below zero: differences of times can be negative, and a
/// ratio over only the other rounds would be wrong.
[[nodiscard]] std::vector<double> round_ratios(std::span<const double> samples, std::span<const double> baseline);

/// The n-th root of the product. Skips values that are not above zero; NaN without values.
[[nodiscard]] double geometric_mean(std::span<const double> values);

/// Whether the lowest and the highest sample are known.
[[nodiscard]] bool has_range(const summary& found);

/// Whether every sample of one is below every sample of the other; false when a range is unknown.
[[nodiscard]] bool ranges_apart(const summary& left, const summary& right);

}
