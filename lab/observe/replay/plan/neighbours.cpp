// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/plan/neighbours.hpp"

#include <unordered_map>
#include <utility>

#include "observe/replay/advice/block_groups.hpp"

namespace tenure::lab {

namespace {

/// A thread with a call stack or a size class.
using group_key = std::uint64_t;

constexpr group_key key_of(std::uint32_t thread, std::uint32_t group) { return group_key{thread} << 32 | group; }

}

std::vector<std::uint32_t> neighbours_of(const trace& recorded, const replay_plan& plan) {
    const bool by_stack = has_stacks(recorded);
    std::vector<std::uint32_t> found(plan.ops.size(), no_neighbour);
    std::vector<std::uint32_t> slots(recorded.blocks, no_neighbour); // by block, while it is in use
    std::unordered_map<group_key, std::uint64_t> latest;             // block
    std::size_t next = 0;
    for (const trace_event& event : recorded.events) {
        if (event.call == trace_call::mark) continue;
        if (event.call == trace_call::resize) ++next; // plan_call::written
        const std::size_t op = next++;
        if (event.call == trace_call::deallocate) slots[event.block] = no_neighbour;
        if (event.call != trace_call::allocate) continue;
        slots[event.block] = plan.ops[op].slot;
        if (by_stack && event.stack == 0) continue; // nobody knows what it belongs to
        const std::uint32_t group = by_stack ? event.stack : size_class_of(event.bytes);
        const auto [known, is_first] = latest.try_emplace(key_of(event.thread, group), event.block);
        if (!is_first) found[op] = slots[std::exchange(known->second, event.block)];
    }
    return found;
}

}
