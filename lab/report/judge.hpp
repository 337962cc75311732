// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who is best at a figure: the one place that decides it, for tables, pages, conclusions and counts alike.
///
/// Two contestants are compared round by round, because the machine drifts between rounds by more than they differ.
/// One leads the other when the signed-rank test (signed_rank.hpp, Wilcoxon 1945) over the logarithms of the ratios of
/// the rounds finds them on its side of zero, at a level of 5 %, and their median is at least 2 % away from 1;
/// otherwise the two are level. A figure that fewer than five rounds have of both is not judged: the test could not
/// tell them apart, and nobody is called the best at it. Medians of either alone decide nothing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/layout.hpp"

namespace tenure::lab {

enum class standing : std::uint8_t { none, leads, level, trails };

/// How one row stands to another at a figure.
struct match {
    summary ratio = summarize({}); ///< by round; below 1 is better whatever the figure's sense; without one, no numbers
    standing stands = standing::none; ///< none: fewer than five rounds have both
};

/// A ratio needs numbers above zero. Where fewer than five rounds have one, though others have both figures, there is
/// none, and the differences of the rounds decide in the same way. Below zero no figure has ratios.
[[nodiscard]] match match_of(const table& from, std::size_t figure_index, std::size_t row, std::size_t other);

/// The best of some rows that have the figure: one that no other of them leads, of those with enough rounds if there
/// are any. no_row when there is none.
[[nodiscard]] std::size_t best_of(const table& from, std::size_t figure_index, const std::vector<std::size_t>& among);

/// The best choices at a figure: every row that no other choice leads, so that whoever is level with the best is named
/// as well. References and checked forms are no choices. Empty when there are not two to choose from, or too few
/// rounds.
[[nodiscard]] std::vector<std::size_t> best_choices(const table& from, std::size_t figure_index);

/// Rows of one role that have the figure.
[[nodiscard]] std::vector<std::size_t> rows_of(const table& from, std::size_t figure_index, role among);

[[nodiscard]] bool holds_row(const std::vector<std::size_t>& rows, std::size_t row);

}
