// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A build for processors other than x86-64: no loops for x86-64-v3.

#include "bench/experiments/vectors/loops/vectors_calls.hpp"

namespace tenure::lab {

constinit const vectors_calls loops_for_v3{};
constinit const vectors_calls loops_for_v3_at_o3{};

const char* why_not_v3() { return "this processor does not have the x86-64-v3 instruction set"; }

}
