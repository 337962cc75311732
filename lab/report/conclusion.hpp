// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an experiment comes to: who leads, who trails, and how far to trust it; for the page and the terminal alike.

#include <cstdint>
#include <string>
#include <vector>

#include "report/layout.hpp"

namespace tenure::lab {

enum class standing : std::uint8_t { none, leads, level, trails };

/// One figure: who is best, and how the best of ours stands to the best of the others.
struct verdict {
    std::size_t figure_index;
    std::size_t best, ours, other, limit; ///< rows, no_row where there is none
    summary against;                      ///< ours to other by round; below 1 is better whatever the figure's sense
    standing stands = standing::none;
};

/// One for each figure of the table.
[[nodiscard]] std::vector<verdict> verdicts_of(const table& whole);

/// Sentences: who is best most often, where ours leads and trails most, who was not measured. At least one.
[[nodiscard]] std::vector<std::string> conclusions(const experiment_result& found, const layout& laid);

/// What must be said of an experiment with fewer than three rounds; empty: nothing.
[[nodiscard]] std::string doubt_of(const experiment_result& found);

}
