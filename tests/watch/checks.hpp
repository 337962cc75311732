// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the tests of the report check with, for this folder's snapshots and pages.

#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// Compares with a file under this folder's snapshots/; with UPDATE_SNAPSHOTS=1 in the environment it writes it.
void expect_watch_snapshot(std::string_view file, const std::string& text);

/// What is wrong with a page, a line each (see report/page_check.hpp).
[[nodiscard]] std::string page_faults(std::string_view page);

[[nodiscard]] inline bool holds(std::string_view text, std::string_view words) {
    return text.find(words) != std::string_view::npos;
}

}
