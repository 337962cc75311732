// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The overall rank of an experiment: by the geometric mean of the ratios to the baseline, times only.

#include <cstddef>
#include <string>
#include <vector>

#include "report/result.hpp"

namespace tenure::lab {

struct ranked {
    std::string name;
    double score;         ///< geometric mean of its ratios; below 1 is better than the baseline
    std::size_t measured; ///< figures that the score is made of
    std::size_t possible; ///< figures that any contestant has
};

/// Best first. A figure counts when it has a better side, is no memory, and its baseline was measured; where larger is
/// better the ratio is turned over. What the experiment names as unranked does not count. References are not
/// choices, and are left out, as is a contestant that lacks more than half of the figures: a mean over the few that it
/// does best would flatter it.
[[nodiscard]] std::vector<ranked> rank(const experiment_result& found);

}
