// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The plain loops of vectors, compiled with the flags of our vector maths. cmake/lab.cmake sets this file's flags.

#include "bench/experiments/vectors/loops/vectors_loops.hpp"

namespace tenure::lab {

namespace {

struct at_our_flags {};

}

constinit const vectors_calls loops_with_our_flags = loop_calls<vectors_loops<at_our_flags>>();

}
