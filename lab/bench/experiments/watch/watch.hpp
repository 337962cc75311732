// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The watch experiment: the cost of being watched.

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment watch_experiment;

}
