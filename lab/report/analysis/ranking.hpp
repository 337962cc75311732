// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The overall rank of an experiment: the geometric mean of the ratios to the baseline, times only.

#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

/// Best first. A figure counts when it has a better side, is not memory, and its baseline was measured. Where larger is
/// better, the ratio is inverted. Figures that the experiment declares unranked do not count. References are left out,
/// because they are not choices. A contestant that lacks more than half of the figures is left out too: a mean over the
/// few that it does best would flatter it.
[[nodiscard]] std::vector<ranked> rank(const experiment_result& found);

}
