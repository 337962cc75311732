// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A region's section of the page: where its time went, its places, its timeline.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

/// Describes a region without its name: "OpenMP, game.cpp:41, 4 threads, 3 times".
[[nodiscard]] std::string about_region(const watched_region& region);

/// A table with column heads that scrolls sideways on its own. A title that begins with '#' heads a column of numbers.
/// `rows` is HTML.
[[nodiscard]] std::string watch_table(std::string_view caption, const std::vector<std::string_view>& titles,
                                      std::string_view rows, std::string_view css = {});

/// Writes the section. `prefix` begins every id of the section and is unique in the page. `marks` is the maximum number
/// of marks in the timeline.
[[nodiscard]] std::string html_region(const watched_region& region, std::string_view prefix, std::size_t marks);

}
