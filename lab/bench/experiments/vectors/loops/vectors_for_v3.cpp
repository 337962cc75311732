// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The plain loops of vectors, compiled with the flags of our vector maths, for x86-64-v3. Nothing else may be in this
/// file. cmake/lab.cmake sets this file's flags.

#include "bench/experiments/vectors/loops/vectors_loops.hpp"

namespace tenure::lab {

namespace {

struct for_v3 {};

}

constinit const vectors_calls loops_for_v3 = loop_calls<vectors_loops<for_v3>>();

}
