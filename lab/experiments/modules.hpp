// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Libraries of ours that are loaded by those who need them: see modules/scene_modules.hpp.

#include <string>

namespace tenure::lab {

/// What a module gives under a name, or null with the reason.
struct loaded_module {
    const void* symbol = nullptr;
    std::string reason;
};

/// The module stays loaded.
[[nodiscard]] loaded_module load_module(const char* file, const char* symbol);

}
