// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A region's section of the page: where its time went, its places, its timeline.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "watch/findings.hpp"

namespace tenure::lab {

/// "OpenMP, game.cpp:41, 4 threads, 3 times": what a region is, besides its name.
[[nodiscard]] std::string about_region(const watched_region& region);

/// A table that scrolls sideways on its own, with the head of its columns; a title that begins with '#' stands over
/// numbers. `rows` is HTML.
[[nodiscard]] std::string watch_table(std::string_view caption, const std::vector<std::string_view>& titles,
                                      std::string_view rows, std::string_view css = {});

/// `prefix` begins every name of this section: unique in the page. `marks` is how many marks the timeline may have.
[[nodiscard]] std::string html_region(const watched_region& region, std::string_view prefix, std::size_t marks);

}
