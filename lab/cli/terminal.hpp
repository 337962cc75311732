// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where results go: standard output, as wide and as coloured as what is behind it.

#include <string_view>

#include "report/text.hpp"

namespace tenure::lab {

/// The width of the terminal, and colours unless NO_COLOR is set; 100 columns and none where there is no terminal.
[[nodiscard]] text_style output_style();

/// Writes to standard output at once. Returns whether it was taken; if not, it has said why.
bool print(std::string_view text);

/// A line on standard error, behind the program's name. Names of others may be in it: control characters become blanks.
void say(std::string_view text);

}
