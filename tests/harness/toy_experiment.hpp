// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An experiment whose contestants behave, crash, hang, lie and vanish.

#include <span>

#include "bench/harness/experiment.hpp"

namespace toys {

[[nodiscard]] std::span<const tenure::lab::experiment> experiments();

}
