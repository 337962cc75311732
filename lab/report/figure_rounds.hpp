// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How many rounds each figure has: an experiment may measure its slow parts less often than the others.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/result.hpp"

namespace tenure::lab {

enum class which_figures : std::uint8_t { compared, primary };

/// Figures that share a number of rounds.
struct figure_rounds {
    std::size_t rounds;
    std::vector<std::string> names; ///< "p99, one thread"; the variant alone where it holds for all of its figures
};

/// Figures whose rounds are not those of the experiment, the fewest first. A figure has as many rounds as the
/// contestant that has most of them.
[[nodiscard]] std::vector<figure_rounds> other_rounds(const experiment_result& found, which_figures which);

/// "1 round for: the whole pattern; 3 rounds for: fragment / pairs"; empty when all have the experiment's.
[[nodiscard]] std::string other_rounds_text(const std::vector<figure_rounds>& found);

}
