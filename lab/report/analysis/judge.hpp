// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Decides which contestant is best for a figure. This is the only place that decides it, for tables, pages,
/// conclusions and counts.
///
/// Two contestants are compared round by round, because the machine drifts between rounds by more than they differ. One
/// leads the other when the signed-rank test (signed_rank.hpp, Wilcoxon 1945) over the logarithms of the ratios of the
/// rounds puts them on its side of zero, at a level of 5 %, and their median is at least 2 % away from 1. Otherwise the
/// two are level. A figure with fewer than five rounds of both is not judged: the test could not tell them apart, and
/// no best choice is named. The medians of the two contestants alone decide nothing.
///
/// A result from a summary file has no rounds. Its figures carry the answers that the judge gave when the file was
/// written; no other pair of contestants can be compared.

#include <cstddef>
#include <vector>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// How one row compares with another for a figure.
struct match {
    summary ratio = summarize({}); ///< by round; below 1 is better, whatever the figure's sense; empty without a ratio
    standing stands = standing::none; ///< none when fewer than five rounds have both
};

/// One figure: the best choices, and the best of ours compared with the best of the others.
struct verdict {
    std::size_t figure_index;
    std::vector<std::size_t> best;      ///< rows: the leader and all rows that are level with it
    std::size_t ours, other, reference; ///< the best row of each group; no_row where the group is empty
    summary against = summarize({});    ///< ours to other by round; below 1 is better, whatever the figure's sense
    standing stands = standing::none;
};

/// The judge's answer for a figure, from the rounds or from the summary.
[[nodiscard]] verdict verdict_of(const table& from, std::size_t figure_index);

/// A ratio needs numbers above zero. When fewer than five rounds have one, although more rounds have both figures,
/// there is no ratio, and the differences of the rounds decide in the same way. Figures below zero have no ratios.
/// Needs the rounds: without them there is neither a ratio nor a standing.
[[nodiscard]] match match_of(const table& from, std::size_t figure_index, std::size_t row, std::size_t other);

/// The best of some rows that have the figure: one that no other of them leads, chosen among those with enough rounds
/// if there are any. no_row when there is none. Needs the rounds.
[[nodiscard]] std::size_t best_of(const table& from, std::size_t figure_index, const std::vector<std::size_t>& among);

/// The best choices for a figure: every row that no other choice leads, so that rows level with the best are included.
/// References and checked forms are not choices. Empty with fewer than two choices, or with too few rounds. From the
/// rounds or from the summary.
[[nodiscard]] std::vector<std::size_t> best_choices(const table& from, std::size_t figure_index);

/// Rows of one role that have the figure.
[[nodiscard]] std::vector<std::size_t> rows_of(const table& from, std::size_t figure_index, role among);

[[nodiscard]] bool holds_row(const std::vector<std::size_t>& rows, std::size_t row);

}
