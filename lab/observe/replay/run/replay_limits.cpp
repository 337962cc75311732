// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/run/replay_limits.hpp"

#include <fmt/format.h>

#include "bench/harness/machine/memory.hpp"

namespace tenure::lab {

std::string why_too_large(const replay_plan& plan) {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    const std::uint64_t needed = plan.peak_bytes + plan.ops.size() * sizeof(plan_op) +
                                 plan.neighbours.size() * sizeof(std::uint32_t) + plan.slot_count * sizeof(void*);
    const std::uint64_t available = available_memory_bytes();
    if (needed <= available) return {};
    return fmt::format(
        "a replay needs {} MiB, of which the program's blocks are {}, and this machine has {} available: "
        "replay it on a larger one, or a part of it (tenure trace cut)",
        needed / mebibyte, plan.peak_bytes / mebibyte, available / mebibyte);
}

std::string why_no_threads(const replay_plan& plan) {
    if (!plan.ok()) return plan.error;
    if (plan.threads.size() <= max_replay_threads) return {};
    return fmt::format("the program had {} threads, and a replay starts {} at most", plan.threads.size(),
                       max_replay_threads);
}

}
