// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which figures an experiment calls primary: a summary shows these and no others, whatever was measured.

#include <string_view>
#include <vector>

#include "report/result.hpp"

namespace tenure::lab {

/// Whether `text` matches `pattern`, in which `*` stands for any letters, or none.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

[[nodiscard]] bool is_primary(const experiment_result& found, std::string_view metric, std::string_view variant);

/// Patterns that no measured figure matches: misspelled, or of a part that did not run.
[[nodiscard]] std::vector<figure_pattern> unmatched_primary(const experiment_result& found);

}
