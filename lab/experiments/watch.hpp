// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The watch experiment: what being watched costs.

#include "harness/experiment.hpp"

namespace tenure::lab {

extern const experiment watch_experiment;

}
