// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure bench --compare OLD NEW`.

#include <string>

namespace tenure::lab {

/// Each path is a results.json or a directory that contains one.
/// Returns   the exit code.
[[nodiscard]] int compare_results(const std::string& before, const std::string& after, bool as_json);

}
