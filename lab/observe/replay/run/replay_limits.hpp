// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What this machine cannot replay.

#include <cstdint>
#include <string>

#include "observe/replay/plan/replay_plan.hpp"

namespace tenure::lab {

/// Why a plan cannot be replayed here, in a sentence; empty when it can. Counts the blocks at their peak, which a part
/// of the replay writes as a whole, and the operations.
[[nodiscard]] std::string why_too_large(const replay_plan& plan);

/// Threads of a program that play at the same time. With more, the processors would change threads and little else.
inline constexpr std::uint32_t max_replay_threads = 256;

/// Why a plan of plan_threads::recorded is not played, in a sentence; empty when it is.
[[nodiscard]] std::string why_no_threads(const replay_plan& plan);

}
