// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Horizontal bars with spread: one bar per contestant, or two or three of them for related figures.

#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// One chart: some figures of a table that share a unit.
struct bar_chart {
    const table& from;
    std::vector<std::size_t> figures; ///< one; or up to three, drawn below each other per contestant, in the order of
                                      ///< the first
    std::string id;                   ///< unique in the page
    std::string title;
};

/// The whole figure element: caption with unit, direction and scale, the picture, and a list of what it leaves out.
[[nodiscard]] std::string draw(const bar_chart& chart);

/// Bars of plain numbers, best first: the scores of a rank.
struct plain_bar {
    std::string label;
    role part;
    double value;
    std::string text;
};

[[nodiscard]] std::string draw_plain(const std::vector<plain_bar>& bars, std::string_view id, std::string_view title,
                                     std::string_view caption);

}
