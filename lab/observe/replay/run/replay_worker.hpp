// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A worker process of a replay: plays one plan in one way and reports what it found.

#include <cstddef>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

/// Runs a part of run/replay_experiment.hpp with the `plan`-th plan of the input.
void run_replay(const task& asked, std::size_t plan);

}
