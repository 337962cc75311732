// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The distance to the best of the others over all experiments: in how many figures the best of ours leads, is level or
/// trails, and where it trails most. Counts the verdicts of judge.hpp.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/statistics.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

struct standing_counts {
    std::size_t leads = 0, level = 0;
    std::size_t trails_little = 0; ///< by up to a tenth
    std::size_t trails_much = 0;   ///< by more, or without a ratio

    [[nodiscard]] std::size_t figures() const { return leads + level + trails_little + trails_much; }
};

struct experiment_standing {
    std::string experiment;
    standing_counts counts;
};

/// A figure for which the best of ours trails the best of the others.
struct trailing_figure {
    std::string experiment, metric, variant, unit;
    bool primary;
    std::string ours, other; ///< contestants
    double ours_median, other_median;
    summary ratio; ///< by round; above 1 whatever the figure's sense; no numbers when too few rounds have one, as when
                   ///< the other has 0
};

struct standings {
    std::vector<experiment_standing> experiments; ///< those with a figure that both ours and others have
    standing_counts all;
    /// The same without vector mathematics, whose hundreds of figures would dominate every sum. Counted only when there
    /// are other experiments.
    std::optional<standing_counts> all_but_vectors;
    std::vector<trailing_figure> trails; ///< figures without a ratio (from 0) first, then the longest distances
};

inline constexpr std::string_view vectors_name = "vectors";
inline constexpr double much_behind = 1.10;
inline constexpr std::size_t longest_distances = 10; ///< how many a table shows

[[nodiscard]] standings standings_of(const result& found);

/// "p99, one thread".
[[nodiscard]] std::string figure_name(const trailing_figure& one);

}
