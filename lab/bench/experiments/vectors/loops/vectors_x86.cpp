// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Whether this processor supports x86-64-v3.

#include "bench/experiments/vectors/loops/vectors_calls.hpp"

namespace tenure::lab {

const char* why_not_v3() {
    const bool has_it = __builtin_cpu_supports("x86-64-v3") != 0;
    return has_it ? "" : "this processor lacks instructions of x86-64-v3";
}

}
