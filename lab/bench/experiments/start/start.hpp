// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The start experiment: its description and its part.

#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment start_experiment;

[[nodiscard]] std::span<const contestant> mallocs_in_start();

}
