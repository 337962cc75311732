// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/scope_finder.hpp"

#include <algorithm>
#include <vector>

namespace tenure::lab {

/// Outer frames that two stacks have in common.
std::size_t scope_finder::shared(std::uint32_t stack, std::uint32_t other) {
    const auto [found, is_new] = known_.try_emplace(std::uint64_t{stack} << 32 | other, 0);
    if (!is_new) return found->second;
    const std::vector<std::uint64_t>& own = recorded_.stacks[stack].frames;
    const std::vector<std::uint64_t>& others = recorded_.stacks[other].frames;
    std::size_t count = 0;
    while (count < own.size() && count < others.size() &&
           own[own.size() - 1 - count] == others[others.size() - 1 - count])
        ++count;
    found->second = count;
    return count;
}

std::size_t scope_finder::frame_of(const group_burst& burst) {
    if (group_.stack == 0 || burst.end == never) return no_frame;
    const std::uint32_t stack = lives_[group_.blocks[burst.first]].born.stack;
    const std::size_t frames = recorded_.stacks[stack].frames.size();
    const std::uint32_t thread = recorded_.events[burst.begin].thread;
    std::size_t outer = frames;
    const auto look_at = [&](const trace_event& event) {
        if (event.thread != thread || event.stack == 0) return false;
        outer = std::min(outer, shared(stack, event.stack));
        return true;
    };
    for (std::uint64_t i = burst.begin; i <= burst.end && outer != 0; ++i) look_at(recorded_.events[i]);
    if (recorded_.events[burst.end].stack == 0) {
        // Nothing tells in which function the last block is freed: it is before the thread's next event, so the scope
        // is where that is too.
        std::uint64_t next = burst.end + 1;
        while (next < recorded_.events.size() && !look_at(recorded_.events[next])) ++next;
        if (next == recorded_.events.size()) return 0; // the program's end: the other bursts tell
    }
    // When all stacks are the same, a loop calls the function from one place, and nothing tells where the loop is.
    if (outer == 0 || outer == frames) return no_frame;
    const std::size_t frame = frames - outer - 1;
    return frame < group_.depth ? frame : no_frame;
}

}
