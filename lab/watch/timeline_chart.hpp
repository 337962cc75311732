// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The picture of a region's threads: a lane for each, its stays as a light bar, its waits on top.

#include <string>
#include <string_view>

#include "watch/timeline.hpp"

namespace tenure::lab {

/// What the axis has room for: columns of a pixel.
inline constexpr std::size_t timeline_columns = 860;

struct timeline_chart {
    const watched_region& region;
    const drawn_timeline& drawn;
    std::string_view id; ///< unique in the page
    std::string_view title;
    const stretch* closer = nullptr; ///< marked: what another picture shows
};

/// The picture. A wait is half a pixel wide at least, whatever its length.
[[nodiscard]] std::string timeline_svg(const timeline_chart& chart);

/// What the kinds of waits that are in the timeline look like; every kind has a colour, a pattern, and a height and
/// place in the lane of its own, so that also the narrowest can be told apart without the colour.
[[nodiscard]] std::string timeline_legend(const drawn_timeline& drawn);

}
