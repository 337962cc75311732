// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Markdown tables of a result, for documents. `scripts/figures` writes them into README, guides and docs/results.

#include <string>

#include "report/result/result.hpp"

namespace tenure::lab {

/// The primary figures of each experiment, one row per contestant, with ratios to the baseline of the same round. Below
/// each table: machine, versions, commit and command.
[[nodiscard]] std::string markdown_tables(const result& found);

/// In how many figures the best of ours leads, is level or trails; one row per experiment.
[[nodiscard]] std::string markdown_distance(const result& found);

/// The figures in which ours trails most.
[[nodiscard]] std::string markdown_trailing(const result& found);

/// Where, when, from what and with which command a result was measured, in one paragraph.
[[nodiscard]] std::string markdown_provenance(const result& found, const experiment_result& experiment);

}
