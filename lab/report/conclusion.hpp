// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an experiment comes to: who leads, who trails, and how far to trust it; for the page and the terminal alike.

#include <string>
#include <string_view>
#include <vector>

#include "report/judge.hpp"
#include "report/layout.hpp"

namespace tenure::lab {

/// One figure: who is best, and how the best of ours stands to the best of the others.
struct verdict {
    std::size_t figure_index;
    std::vector<std::size_t> best;      ///< rows: who leads, and whoever is level with it
    std::size_t ours, other, reference; ///< the best row of each, no_row where there is none
    summary against;                    ///< ours to other by round; below 1 is better whatever the figure's sense
    standing stands = standing::none;
};

/// "leads", "level", "trails", a dash.
[[nodiscard]] std::string_view word_of(standing stands);

/// One for each figure of the table.
[[nodiscard]] std::vector<verdict> verdicts_of(const table& whole);

/// Sentences: who is best most often, where ours leads and trails most, who was not measured. At least one.
[[nodiscard]] std::vector<std::string> conclusions(const experiment_result& found, const layout& laid);

/// "×1.20" of the best of ours to the best of the others: above 1 ours is worse, whatever the figure's sense. "from 0"
/// where the other has 0 and ours more, "to 0" the other way round; a dash where there is no ratio for another reason.
[[nodiscard]] std::string distance_text(const summary& ratio, double ours_median, double other_median);

/// What must be said of an experiment, or of figures of it, with fewer rounds than a judgement takes; empty: nothing.
[[nodiscard]] std::string doubt_of(const experiment_result& found);

}
