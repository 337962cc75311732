// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The primary figures of one experiment as a picture for documents: a single SVG file for light and dark pages.

#include <string>

#include "report/result/result.hpp"

namespace tenure::lab {

/// Draws a panel of bars for each figure of chart_figures.hpp: choices sorted best first, references and checked forms
/// below them. The footer names machine, compiler, commit and date.
/// Requires  `shown` is an experiment of `found`.
/// Returns   the file; empty when there is no primary figure to compare.
[[nodiscard]] std::string experiment_chart(const result& found, const experiment_result& shown);

}
