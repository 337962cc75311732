// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whether this machine has the memory that a replay needs.

#include <string>

#include "observe/replay/plan/replay_plan.hpp"

namespace tenure::lab {

/// Why a plan cannot be replayed here, in a sentence; empty when it can. Counts the blocks at their peak, which a part
/// of the replay writes as a whole, and the operations.
[[nodiscard]] std::string why_too_large(const replay_plan& plan);

}
