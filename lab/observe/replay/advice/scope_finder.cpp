// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/scope_finder.hpp"

#include <algorithm>
#include <vector>

namespace tenure::lab {

std::size_t scope_finder::shared_with(std::uint32_t stack) {
    const auto [found, is_new] = known_.try_emplace(stack, 0);
    if (!is_new) return found->second;
    const std::vector<std::uint64_t>& own = recorded_.stacks[group_.stack].frames;
    const std::vector<std::uint64_t>& other = recorded_.stacks[stack].frames;
    std::size_t shared = 0;
    while (shared < own.size() && shared < other.size() &&
           own[own.size() - 1 - shared] == other[other.size() - 1 - shared])
        ++shared;
    found->second = shared;
    return shared;
}

std::size_t scope_finder::outer_frames(const group_burst& burst) {
    if (group_.stack == 0 || burst.end == never) return 0;
    const std::uint32_t thread = recorded_.events[burst.begin].thread;
    std::size_t shared = recorded_.stacks[group_.stack].frames.size();
    for (std::uint64_t i = burst.begin; i <= burst.end && shared != 0; ++i) {
        const trace_event& event = recorded_.events[i];
        // Frees may have no stack; the allocations around them tell.
        if (event.thread == thread && event.stack != 0) shared = std::min(shared, shared_with(event.stack));
    }
    return shared;
}

}
