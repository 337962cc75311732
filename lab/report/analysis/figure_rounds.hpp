// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The number of rounds of each figure; an experiment may measure its slow parts less often.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

enum class which_figures : std::uint8_t { compared, primary };

/// Figures with the same number of rounds.
struct figure_rounds {
    std::size_t rounds;
    std::vector<std::string> names; ///< "p99, one thread"; only the variant when it holds for all of its figures
};

/// Figures whose number of rounds differs from the experiment's, smallest number first. A figure has as many rounds as
/// the contestant with the most.
[[nodiscard]] std::vector<figure_rounds> other_rounds(const experiment_result& found, which_figures which);

/// "1 round for: the whole pattern; 3 rounds for: fragment / pairs"; empty when all figures have the experiment's
/// number.
[[nodiscard]] std::string other_rounds_text(const std::vector<figure_rounds>& found);

}
