// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What every chart of bars draws: the order of the rows, bars, spreads and the axis.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/layout.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"

namespace tenure::lab {

/// Where the bars of a chart are, in its pixels.
struct bar_area {
    double left; ///< the start of the axis
    double bar_height;
    double first_text, last_text; ///< labels of the axis stay between these
};

/// Rows that have the figure, best median first.
[[nodiscard]] std::vector<std::size_t> best_first(const table& from, std::size_t figure_index);

/// A bar from zero. On a logarithmic axis a length has no meaning, so a thin line with a mark at the value replaces it.
void draw_bar(svg& picture, const scale& axis, const bar_area& area, double y, double value, std::string_view css);

/// The commands of a whisker over the middle half of the rounds, for svg::path.
[[nodiscard]] std::string whisker_of(const scale& axis, const bar_area& area, double y, const summary& value);

/// Lines at the ticks from `top` to `bottom`, with their numbers below. Leaves out numbers that would touch.
void draw_ticks(svg& picture, const scale& axis, const bar_area& area, double top, double bottom);

/// The style class of a role; bars and swatches share it.
[[nodiscard]] std::string_view css_of(role part);

}
