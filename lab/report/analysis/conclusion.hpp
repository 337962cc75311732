// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Conclusions of an experiment: who leads, who trails, and how far to trust it. Used by the page and the terminal.

#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/judge.hpp"
#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// "leads", "level", "trails", or a dash.
[[nodiscard]] std::string_view word_of(standing stands);

/// One verdict for each figure of the table.
[[nodiscard]] std::vector<verdict> verdicts_of(const table& whole);

/// Sentences: who is best most often, where ours leads and trails most, who was not measured. At least one sentence.
[[nodiscard]] std::vector<std::string> conclusions(const experiment_result& found, const layout& laid);

/// The distance "×1.20" of the best of ours to the best of the others; above 1 ours is worse, whatever the figure's
/// sense. "from 0" when the other has 0 and ours more; "to 0" for the opposite. A dash when there is no ratio for
/// another reason.
[[nodiscard]] std::string distance_text(const summary& ratio, double ours_median, double other_median);

/// A warning about an experiment, or about some of its figures, with fewer rounds than a judgement needs; empty when
/// there is nothing to warn about.
[[nodiscard]] std::string doubt_of(const experiment_result& found);

}
