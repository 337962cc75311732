// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A program's file, before it is started: where it is, and whether a library can be preloaded into it.

#include <string>
#include <string_view>

namespace tenure::lab {

/// The file that a name starts, as a shell finds it; empty when there is none that may be executed.
[[nodiscard]] std::string find_program(const std::string& name);

/// Why a path to something that is there is no program, as the end of a sentence that begins with it; empty when
/// nothing is there, and for a plain name.
[[nodiscard]] std::string why_not_executable(const std::string& path);

/// Why the loader would not preload into this program, as the end of a sentence that begins with its name: "is linked
/// statically: ...". Empty when it would. Of a script the interpreter is asked.
[[nodiscard]] std::string why_not_preloadable(const std::string& path);

/// Whether the program asks the loader for a library whose name begins so: "libasan.so".
[[nodiscard]] bool needs_library(const std::string& path, std::string_view name);

}
