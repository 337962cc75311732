// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure watch --list`.

#include <string>

namespace tenure::lab {

/// Every function that the watch interposes, grouped by what it finds, and what the watch cannot see.
[[nodiscard]] std::string list_of_calls();

}
