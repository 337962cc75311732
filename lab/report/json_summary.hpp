// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The fields of an experiment in a summary file (format 2), which stand in place of metrics and lists.
///
///     "figures": one object per line:
///         "figure"    [metric, variant, unit]
///         "better"    as in a metric; smaller when missing
///         "rounds"    when they differ from the experiment's
///         "best"      the best choices; nothing when there is none
///         "verdict"   [ours, other, reference, standing, ratio]: the best of each group or null, how ours compares
///         with
///                     the other, and the median of their ratios by round or null
///         "values"    one item per contestant: null without the figure, [] without a number, else
///                     [median], [median, ratio], [median, low, high], [median, low, high, ratio or null], or
///                     [median, low, high, ratio or null, rounds] when the rounds differ from the figure's
///     "quotient_values": {"figure": name, "values": [[median, low, high, rounds] or [] per quotient]}
///     "rank": [[contestant, score, number of figures measured, of figures possible]], best first
///     "distances": {"contestant": one, "variants": names,
///                   "values": [count, usual, its count, distinct, backwards, lowest, highest]}
///
/// A contestant is written as its index in the experiment's list.

#include <nlohmann/json.hpp>

#include "report/json_fields.hpp"
#include "report/result.hpp"

namespace tenure::lab {

/// Appends the fields to an experiment.
/// Requires  `found` is summarized.
void write_summary(const experiment_result& found, nlohmann::ordered_json& into);

/// Reads the fields into an experiment whose contestants have been read. Notes an error when the list of figures is
/// missing, a list has another length, or an index is out of range.
void read_summary(fields& from, experiment_result& into);

}
