// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds a function by its name and plans how to move its first instructions. The plan is made here, with an
/// instruction decoder (Zydis), and carried out in the process by hook/patch/patches.hpp.

#include <filesystem>
#include <string>

#include "observe/hook/patch/patches.hpp"

namespace tenure::lab {

struct function_plan {
    hook::planned_patch patch{};
    std::string refusal; ///< why the function cannot be watched; empty when it can
};

/// Looks for a function in the program, then in its libraries. The name is the linker symbol, the compiler's spelling
/// with arguments, or, if only one function has it, the name without arguments. A library and "!" may precede it.
[[nodiscard]] function_plan plan_function(const std::filesystem::path& program, const std::string& name);

}
