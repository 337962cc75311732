// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Our libraries that are loaded on demand: see modules/scene_modules.hpp.

#include <string>

namespace tenure::lab {

/// A module's symbol, or nullptr with the reason.
struct loaded_module {
    const void* symbol = nullptr;
    std::string reason;
};

/// The module stays loaded.
[[nodiscard]] loaded_module load_module(const char* file, const char* symbol);

}
