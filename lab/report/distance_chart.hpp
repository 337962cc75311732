// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The two pictures of the lifetimes article: the distance of each allocation from the one before, and the buckets.

#include <optional>
#include <string>

#include "report/distances.hpp"

namespace tenure::lab {

/// Distances over the allocation index. Outliers stand at the edge with their value beside them.
/// `budget_end` is the index of the first allocation past a budget; it is drawn as a line.
[[nodiscard]] std::string draw_distances(const distance_view& view, std::optional<double> budget_end,
                                         std::string_view id);

/// How often each distance occurred: the most frequent ones, and the rest in one line.
[[nodiscard]] std::string draw_buckets(const distance_view& view, std::string_view id);

}
