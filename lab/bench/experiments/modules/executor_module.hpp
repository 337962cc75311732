// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs a loop on threads of its own, in a module: see scene_modules.hpp. In tenure_lab_tbb.so as
/// `tenure_lab_executor`.

#include <cstddef>

namespace tenure::lab {

struct executor_module {
    /// Call it once, before the first loop. Each thread besides the calling one calls `enter()` when it joins.
    void (*use_threads)(std::size_t count, void (*enter)());
    /// Calls `body(context, index)` for each index below `count`, and returns when all calls have returned.
    void (*run)(std::size_t count, void (*body)(void* context, std::size_t index), void* context);
};

}
