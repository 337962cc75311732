// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Compares two results: reports what became smaller or larger by more than the rounds differ among themselves.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "report/analysis/layout.hpp"
#include "report/analysis/statistics.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// How a row changed from the old result to the new one.
///
/// A change counts when every round of one result is on the same side of every round of the other and the medians
/// differ by more than a tenth. Spreads alone are not enough: on a busy machine, the middle halves of seven rounds of
/// the same binary do not overlap for one figure in ten. The machine itself drifts between two runs, so a time is
/// judged by its ratio to the baseline of the same round. If only the absolute figure changed, or for the baseline
/// itself, the verdict is `drifted`: it says something about the machine and nothing about the allocator. A time
/// without a ratio is `not_comparable`, because it cannot be told from that drift. Memory and facts do not drift and
/// are judged by their values. With fewer than five rounds on either side the range means little, and the verdict is
/// `too_few`. A summary file has medians without rounds. Medians that differ by at most a tenth are the same; all
/// others are `not_available`, because only the rounds can tell a change from chance.
enum class change : std::uint8_t { same, better, worse, drifted, moved, not_comparable, too_few, not_available };

inline constexpr std::size_t min_compared_rounds = 5;
inline constexpr double min_compared_change = 0.10; ///< relative to the old median

/// One figure in both results.
struct compared_metric {
    std::string experiment, contestant, variant, metric, unit;
    figure_kind kind = figure_kind::timed;
    better sense = better::smaller;
    summary before, after;             ///< of the samples
    summary ratio_before, ratio_after; ///< to the baseline of the same round; NaN without a baseline
    change verdict = change::same;     ///< `moved`: changed beyond the rounds, for a figure without a better side

    /// New divided by old. NaN when either is below zero, where a ratio has no meaning.
    [[nodiscard]] double factor() const {
        const bool negative = before.median < 0.0 || after.median < 0.0;
        return negative ? std::numeric_limits<double>::quiet_NaN() : after.median / before.median;
    }
};

struct comparison {
    std::string before_name, after_name; ///< date, commit and build of each
    std::vector<std::string> warnings;   ///< differences besides the code: machine, compiler, flags, options
    std::vector<compared_metric> rows;   ///< in the order of the new result
    std::vector<std::string> ambiguous;  ///< recorded more than once under one name in one result, so not compared
    std::vector<std::string> only_before,
        only_after; ///< "experiment / contestant / variant / metric", or a shorter path

    [[nodiscard]] std::size_t count(change kind) const;
};

[[nodiscard]] comparison compare(const result& before, const result& after);

/// The comparison in a machine-readable form. For the terminal's tables, see text.hpp.
[[nodiscard]] std::string to_json(const comparison& found);

}
