// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which primary figures of an experiment its chart shows.

#include <cstddef>
#include <vector>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// The largest number of panels in a chart.
inline constexpr std::size_t max_panels = 6;

struct chart_choice {
    std::vector<std::size_t> figures; ///< indexes in the table, in its order with memory last; at most max_panels
    std::size_t primary = 0;          ///< how many primary figures the table has
};

/// Chooses from the primary figures of `whole`, without those that are zero for everyone. When they are more than fit,
/// each variant is shown once, by the figure that the experiment declares first, and one panel is kept for memory;
/// figures declared early fill what remains.
[[nodiscard]] chart_choice choose_chart_figures(const experiment_result& found, const table& whole);

}
