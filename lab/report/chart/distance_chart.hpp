// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The two charts of the lifetimes article: the distance of each allocation from the previous one, and the buckets.

#include <optional>
#include <string>

#include "report/analysis/distances.hpp"

namespace tenure::lab {

/// Distances by allocation index. Outliers are drawn at the edge with their values beside them.
/// `budget_end`, drawn as a line, is the index of the first allocation past a budget.
[[nodiscard]] std::string draw_distances(const distance_view& view, std::optional<double> budget_end,
                                         std::string_view id);

/// How often each distance occurred: the most frequent distances, and the rest in one line.
[[nodiscard]] std::string draw_buckets(const distance_view& view, std::string_view id);

}
