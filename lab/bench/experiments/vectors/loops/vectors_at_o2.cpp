// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The plain loops of vectors, compiled with -O2 whatever the other flags are. cmake/lab.cmake sets this file's flags.

#include "bench/experiments/vectors/loops/vectors_loops.hpp"

namespace tenure::lab {

namespace {

struct at_o2 {};

}

constinit const vectors_calls loops_at_o2 = loop_calls<vectors_loops<at_o2>>();

}
