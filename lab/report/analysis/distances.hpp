// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Analyses the distances between successive allocations: the usual one, the buckets, and where a plot must clip.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

/// The name of the series that are treated as distances.
inline constexpr std::string_view distances_name = "distances";

struct bucket {
    std::int64_t distance;
    std::size_t count;
};

/// Counts equal distances, in order of first appearance as in the article.
[[nodiscard]] std::vector<bucket> buckets_of(const std::vector<std::int64_t>& distances);

/// The range that a plot shows. Values outside it are drawn at its edge and printed.
struct plot_range {
    std::int64_t low, high;
    std::vector<std::size_t> clipped; ///< indices into the distances, ascending
};

/// Everything, unless a few values are so far away that the rest would shrink to a line.
[[nodiscard]] plot_range range_of(const std::vector<std::int64_t>& distances);

[[nodiscard]] distance_summary summarize_distances(const std::vector<std::int64_t>& distances);

/// The distances of one contestant. Variants with equal lists are merged: many allocators do the same cold and warm.
struct distance_view {
    const contestant_result* who;
    std::vector<std::string> variants;
    const std::vector<std::int64_t>* values; ///< nullptr in a result from a summary file: there is nothing to draw
    distance_summary found = {};
};

/// In the order of the contestants. Rows that were not measured or have no such series are left out.
[[nodiscard]] std::vector<distance_view> distances_of(const experiment_result& found);

}
