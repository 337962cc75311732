// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two results side by side: what became smaller or larger by more than the rounds differ among themselves.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "report/layout.hpp"
#include "report/result.hpp"
#include "report/statistics.hpp"

namespace tenure::lab {

/// What happened to a row from the old result to the new one.
///
/// A change counts when every round of one result lies on the same side of every round of the other and the medians
/// differ by more than a tenth; spreads alone are too narrow for that: the middle halves of seven rounds of one binary
/// lie apart in one figure of ten on a busy machine. The machine itself drifts between two runs, so a time is judged by
/// its ratio to the baseline of the same round; where only the absolute figure moved, and for the baseline itself, the
/// row has `drifted`: that says something about the machine and nothing about the allocator. A time without a ratio is
/// `not_comparable`, because nothing tells it from that drift. Memory and facts do not drift and are judged as they
/// are. Where either side has fewer than five rounds its range means little, and there is no verdict: `too_few`.
enum class change : std::uint8_t { same, better, worse, drifted, moved, not_comparable, too_few };

inline constexpr std::size_t min_compared_rounds = 5;
inline constexpr double min_compared_change = 0.10; ///< of the old median

/// One figure in both results.
struct compared_metric {
    std::string experiment, contestant, variant, metric, unit;
    figure_kind kind = figure_kind::timed;
    better sense = better::smaller;
    summary before, after;             ///< of the samples
    summary ratio_before, ratio_after; ///< to the baseline of the same round; NaN when there is none
    change verdict = change::same;     ///< `moved`: beyond the rounds, of a figure that has no better side

    /// New over old; NaN when either is below zero, where a ratio means nothing.
    [[nodiscard]] double factor() const {
        const bool negative = before.median < 0.0 || after.median < 0.0;
        return negative ? std::numeric_limits<double>::quiet_NaN() : after.median / before.median;
    }
};

struct comparison {
    std::string before_name, after_name; ///< when, commit and build of each
    std::vector<std::string> warnings;   ///< what differs besides the code: machine, compiler, flags, options
    std::vector<compared_metric> rows;   ///< in the order of the new result
    std::vector<std::string> ambiguous;  ///< recorded more than once under one name on a side, and not compared
    std::vector<std::string> only_before,
        only_after; ///< "experiment / contestant / variant / metric", or a shorter path

    [[nodiscard]] std::size_t count(change kind) const;
};

[[nodiscard]] comparison compare(const result& before, const result& after);

/// The comparison for machines. The tables for a terminal are in text.hpp.
[[nodiscard]] std::string to_json(const comparison& found);

}
