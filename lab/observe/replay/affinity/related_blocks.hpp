// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pairs of blocks of a whole trace that have a relation which was seen in a few watched ones.

#include <cstdint>
#include <span>
#include <vector>

#include "observe/replay/affinity/co_access.hpp"
#include "observe/replay/plan/replay_plan.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// For each operation that allocates the later block of a pair: the slot of the earlier one, if that is still in use.
/// All other operations have `no_neighbour`. A block that several relations pair has the first of them.
/// Requires  `plan` is of this trace and one thread, with no routes but those of affinity groups.
[[nodiscard]] std::vector<std::uint32_t> related_slots(const trace& recorded, std::span<const block_relation> relations,
                                                       const replay_plan& plan);

}
