// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The picture of a region's threads: one lane per thread, with its stays as a light bar and its waits on top.

#include <string>
#include <string_view>

#include "observe/watch/timeline.hpp"

namespace tenure::lab {

/// The width of the axis in columns of one pixel.
inline constexpr std::size_t timeline_columns = 860;

struct timeline_chart {
    const watched_region& region;
    const drawn_timeline& drawn;
    std::string_view id; ///< unique in the page
    std::string_view title;
    const stretch* closer = nullptr; ///< a stretch to mark: another picture shows it
};

/// Draws the picture. A wait is at least half a pixel wide.
[[nodiscard]] std::string timeline_svg(const timeline_chart& chart);

/// The legend for the kinds of waits in the timeline. Each kind has its own colour, pattern, height and place in the
/// lane, so that even the narrowest marks can be distinguished without colour.
[[nodiscard]] std::string timeline_legend(const drawn_timeline& drawn);

}
