// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The fields of an experiment in a summary file (format 2), which replace those of the same name and the contestants'
/// metrics and lists.
///
///     "parameters"    [[name, value]]
///     "primary"       [[metric, variant]]
///     "variants"      one object per variant: "variant", its name, and "figures", one object per line:
///         "figure"    [metric, unit]
///         "better"    as in a metric; smaller when missing
///         "rounds"    when they differ from the experiment's
///         "best"      the best choices; missing when there is none
///         "verdict"   [ours, reference, other, standing, ratio]: the best of each group or null, how ours stands
///                     against the other, and the median of their ratios by round or null
///         "values"    one item per contestant: null without the figure, [] without a number, else
///                     [median], [median, ratio], [median, low, high], [median, low, high, ratio or null], or
///                     [median, low, high, ratio or null, rounds] when the rounds differ from the figure's
///     "quotient_values"   {"figure": name, "values": [[median, low, high, rounds] or [] per quotient]}
///     "rank"              [[contestant, score, number of figures measured, of figures possible]], best first
///     "distances"         {"contestant": one, "variants": names,
///                         "values": [count, usual, its count, distinct, backwards, lowest, highest]}
///
/// A contestant is written as its index in the experiment's list. In "verdict" and "values", null items at the end are
/// left out.

#include <nlohmann/json.hpp>

#include "report/json/json_fields.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

/// Adds the fields to an experiment, or replaces them.
/// Requires  `found` is summarized.
void write_summary(const experiment_result& found, nlohmann::ordered_json& into);

/// Reads the fields into an experiment whose contestants have been read. Notes an error when the list of variants is
/// missing, a list has another length, or an index is out of range.
void read_summary(fields& from, experiment_result& into);

}
