// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure watch --list`.

#include <string>

namespace tenure::lab {

/// Every function that the watch stands in for, by what it looks for, and what it cannot see.
[[nodiscard]] std::string list_of_calls();

}
