// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Inspects a program's file before it is started: finds it, and tells whether a library can be preloaded into it.

#include <string>
#include <string_view>

namespace tenure::lab {

/// The file that a name starts, found as a shell finds it; empty when there is no executable one.
[[nodiscard]] std::string find_program(const std::string& name);

/// Why an existing path is not a program, as the end of a sentence that begins with the path. Empty when nothing exists
/// there, and for a plain name.
[[nodiscard]] std::string why_not_executable(const std::string& path);

/// Why the loader would not preload into this program, as the end of a sentence that begins with its name: "is linked
/// statically: ...". Empty when it would. For a script, the interpreter is inspected.
[[nodiscard]] std::string why_not_preloadable(const std::string& path);

/// Whether the program asks the loader for a library whose name begins with `name`: "libasan.so".
[[nodiscard]] bool needs_library(const std::string& path, std::string_view name);

}
