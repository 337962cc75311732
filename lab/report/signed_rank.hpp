// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The signed-rank test for paired samples (F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics
/// Bulletin 1, 1945): whether differences that should scatter around zero lie on one side of it.
///
/// It looks at the order of the differences only, so that one disturbed round counts as one round, however far off it
/// is. Two sides, 5 %: of twenty pairs of equal contestants it tells about one apart. With five differences the
/// smallest level there is is 6.25 %.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenure::lab {

/// With fewer rounds the test can never tell two apart.
inline constexpr std::size_t min_judged_rounds = 5;

enum class side : std::uint8_t { neither, below, above };

/// The side of zero that `differences` lie on; neither when that may be chance.
/// Differences of zero are left out, NaN too; equal magnitudes share the mean of their ranks; infinities are ranked
/// last.
[[nodiscard]] side side_of_zero(std::span<const double> differences);

}
