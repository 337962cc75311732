// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes results to standard output, with the width and colours that its target supports.

#include <string>
#include <string_view>

#include "report/table/text.hpp"

namespace tenure::lab {

/// The terminal's width, with colours unless NO_COLOR is set. Without a terminal: 100 columns, no colours.
[[nodiscard]] text_style output_style();

/// Writes to standard output and flushes.
/// Returns   whether it was written; if not, the error has been reported.
bool print(std::string_view text);

/// Writes to a file, or for "-" to standard output; for an empty path does nothing.
/// Returns   whether all was written; if not, the error has been reported.
[[nodiscard]] bool write_to(const std::string& path, std::string_view text);

/// Writes a line to standard error after the program's name. Control characters become spaces, because the text may
/// contain foreign names.
void say(std::string_view text);

}
