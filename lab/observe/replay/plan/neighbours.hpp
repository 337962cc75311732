// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks that a program probably uses together. A trace does not say what a program touches, so this is a guess: a
/// list or a tree is built by one call, and visited later in the order in which it was built.

#include <cstdint>
#include <vector>

#include "observe/replay/plan/replay_plan.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// For each operation that allocates a block: the slot of the block that the same call stack, on the same thread, had
/// allocated before it, if that one is still in use. In a trace without stacks a size class takes the place of the
/// stack. All other operations have `no_neighbour`.
/// Requires  `plan` is make_plan(recorded): one thread, nothing redirected.
[[nodiscard]] std::vector<std::uint32_t> neighbours_of(const trace& recorded, const replay_plan& plan);

}
