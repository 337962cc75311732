// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The signed-rank test for paired samples (F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics
/// Bulletin 1, 1945): whether differences that should scatter around zero lie on one side of it.
///
/// The test uses only the order of the differences, so one disturbed round counts as one round, however far off it is.
/// Two-sided, 5 %: of twenty pairs of equal contestants it wrongly separates about one. With five differences the
/// smallest possible level is 6.25 %.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenure::lab {

/// With fewer rounds the test can never find a difference.
inline constexpr std::size_t min_judged_rounds = 5;

enum class side : std::uint8_t { neither, below, above };

/// The side of zero on which `differences` lie; neither when that may be chance.
/// Zeros and NaN are left out, equal magnitudes share the mean of their ranks, and infinities are ranked last.
[[nodiscard]] side side_of_zero(std::span<const double> differences);

}
