// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A build without vector maths, because Highway was not found: only the loops take part.

#include "bench/experiments/vectors/vectors.hpp"

namespace tenure::lab {

std::span<const contestant> tenure_in_vectors() { return {}; }

}
