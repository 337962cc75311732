// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the stand-ins of the profilers share: a rule of theirs that was broken ends the process.

#include <cstdio>
#include <cstdlib>

namespace stand_in {

inline void require(bool holds, const char* rule) {
    if (holds) return;
    std::fprintf(stderr, "stand-in of a profiler: %s\n", rule);
    std::_Exit(3);
}

}
