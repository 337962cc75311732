// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the parts of a replay have in common: writes to new blocks, and the end of a replay.

#include <cstddef>
#include <cstdint>

#include "bench/harness/experiment.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/player.hpp"
#include "observe/replay/run/touch.hpp"

namespace tenure::lab {

template<touch_policy Policy>
struct touching : bare_around {
    void made(const plan_op& op, void* block, std::uint64_t written) { touch<Policy>(block, written, op.bytes); }
    void kept(const plan_op& op, void* block, std::uint64_t written) { touch<Policy>(block, written, op.bytes); }
};

/// Calls `use` with the policy's form of `touching`.
template<class Use>
void with_touch(touch_policy policy, Use use) {
    switch (policy) {
    case touch_policy::none: return use(touching<touch_policy::none>{});
    case touch_policy::pages: return use(touching<touch_policy::pages>{});
    case touch_policy::ends: return use(touching<touch_policy::ends>{});
    case touch_policy::whole: return use(touching<touch_policy::whole>{});
    }
}

[[nodiscard]] inline touch_policy policy_of(const task& asked) {
    return static_cast<touch_policy>(asked.options["touch"]);
}

/// Frees what the program had not freed. Frees alone, so it cannot fail.
inline void free_rest(const plan_view& plan, void** held, redirects& to, player_state& state) {
    bare_around around;
    for (std::size_t i = 0; i < plan.threads.size(); ++i)
        static_cast<void>(play(plan.tail_of(i), held, to, around, state));
}

}
