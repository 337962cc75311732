// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which figures an experiment declares as primary. A summary shows only these.

#include <string_view>
#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

/// Whether `text` matches `pattern`, in which `*` stands for any number of characters.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

[[nodiscard]] bool is_primary(const experiment_result& found, std::string_view metric, std::string_view variant);

/// Patterns that match no measured figure: misspelled, or of a part that did not run.
[[nodiscard]] std::vector<figure_pattern> unmatched_primary(const experiment_result& found);

}
