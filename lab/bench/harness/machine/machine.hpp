// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Information about the machine and the build for reports.

#include <string>
#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

[[nodiscard]] machine_info describe_machine();

/// "0.1.0"
[[nodiscard]] std::string library_version();

/// "0.1.0, checks 0": the version of our own contestants, which are compiled at this program's check level.
[[nodiscard]] std::string own_version();

/// The current time, as ISO 8601 in UTC.
[[nodiscard]] std::string timestamp();

/// Malloc settings in the environment that workers inherit ("MALLOC_CONF=narenas:1"). They are reported because they
/// change figures.
[[nodiscard]] std::vector<std::string> allocator_environment();

}
