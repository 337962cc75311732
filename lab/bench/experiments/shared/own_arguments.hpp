// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The command line of this process, for a process that starts itself once more.

#include <string>
#include <vector>

namespace tenure::lab {

[[nodiscard]] std::vector<std::string> own_arguments();

/// The array for exec; it ends with a null pointer and points into `words`.
[[nodiscard]] std::vector<char*> exec_pointers(std::vector<std::string>& words);

}
