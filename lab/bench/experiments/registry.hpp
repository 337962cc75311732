// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Every experiment of this build, and the libraries that their contestants call.

#include <span>
#include <vector>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

/// In the order in which they run.
[[nodiscard]] std::span<const experiment> experiments();

/// As found by the build, or missing; without the mallocs, which are found at run time.
[[nodiscard]] std::vector<library_peer> library_peers();

}
