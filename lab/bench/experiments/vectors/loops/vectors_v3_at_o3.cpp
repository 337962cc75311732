// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The plain loops of vectors, compiled with -O3 for x86-64-v3 and none of our flags. Multiplications may be fused with
/// additions, and nothing else may be in this file. cmake/lab.cmake sets this file's flags.

#include "bench/experiments/vectors/loops/vectors_loops.hpp"

namespace tenure::lab {

namespace {

struct v3_at_o3 {};

}

constinit const vectors_calls loops_for_v3_at_o3 = loop_calls<vectors_loops<v3_at_o3>>();

}
