// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A function by its name, and how its first instructions can be moved: planned here, where a decoder knows them
/// (Zydis); carried out in the process by hook/patches.hpp.

#include <filesystem>
#include <string>

#include "hook/patches.hpp"

namespace tenure::lab {

struct function_plan {
    hook::planned_patch patch{};
    std::string refusal; ///< empty: it can be watched
};

/// Looks in the program, then in its libraries, for a function of that name: as the linker knows it, as the compiler
/// wrote it with its arguments, or without them when only one function has it. A name may begin with a library, and
/// "!".
[[nodiscard]] function_plan plan_function(const std::filesystem::path& program, const std::string& name);

}
