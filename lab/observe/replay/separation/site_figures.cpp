// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/separation/site_figures.hpp"

#include <algorithm>

#include "observe/replay/separation/separation.hpp"

namespace tenure::lab {

namespace {

/// A block from a call that allocates or resizes it to the next that resizes or frees it.
struct held_block {
    std::uint64_t bytes = 0, since_event = 0, since_bytes = 0;
    std::uint32_t stack = 0;
    bool is_live = false;
};
static_assert(sizeof(held_block) <= walk_block_bytes);

std::uint64_t events_of(const trace& recorded) {
    return static_cast<std::uint64_t>(
        std::count_if(recorded.events.begin(), recorded.events.end(),
                      [](const trace_event& each) { return each.call != trace_call::mark; }));
}

/// Calls `ended(block, event, bytes allocated until then, is at the end)` for each block, and `begun(event)`.
template<class Begun, class Ended>
void walk(const trace& recorded, Begun begun, Ended ended) {
    std::vector<held_block> blocks(recorded.blocks);
    std::uint64_t allocated = 0, next = 0;
    for (const trace_event& event : recorded.events) {
        if (event.call == trace_call::mark) continue;
        const std::uint64_t i = next++;
        if (event.call == trace_call::frame) continue;
        held_block& block = blocks[event.block];
        if (block.is_live) ended(block, i, allocated, false);
        block.is_live = event.call != trace_call::deallocate;
        if (!block.is_live) continue;
        begun(event);
        block.bytes = event.bytes;
        block.since_event = i;
        block.since_bytes = allocated;
        block.stack = event.stack < recorded.stacks.size() ? event.stack : 0;
        allocated += event.bytes;
    }
    for (const held_block& block : blocks)
        if (block.is_live) ended(block, next, allocated, true);
}

}

std::vector<site_figures> figures_of_stacks(const trace& recorded) {
    std::vector<site_figures> made(recorded.stacks.size());
    const double events = static_cast<double>(std::max<std::uint64_t>(events_of(recorded), 1));
    walk(
        recorded,
        [&](const trace_event& event) {
            site_figures& of = made[event.stack < made.size() ? event.stack : 0];
            ++of.calls;
            of.bytes += event.bytes;
        },
        [&](const held_block& block, std::uint64_t event, std::uint64_t, bool) {
            made[block.stack].held +=
                static_cast<double>(block.bytes) * static_cast<double>(event - block.since_event) / events;
        });
    return made;
}

double separated_share(std::span<const site_figures> figures, std::span<const std::uint8_t> classes) {
    std::uint64_t all = 0, separated = 0;
    for (std::size_t stack = 0; stack < figures.size(); ++stack) {
        all += figures[stack].calls;
        if (stack < classes.size() && classes[stack] != ordinary_class) separated += figures[stack].calls;
    }
    return static_cast<double>(separated) / static_cast<double>(std::max<std::uint64_t>(all, 1));
}

std::vector<death_figures> deaths_of_groups(const trace& recorded, std::span<const std::uint32_t> group_of_stack,
                                            std::size_t groups) {
    std::vector<death_figures> made(groups);
    std::uint64_t all = 0;
    for (const trace_event& each : recorded.events)
        if (each.call == trace_call::allocate || each.call == trace_call::resize) all += each.bytes;
    const std::uint64_t events = std::max<std::uint64_t>(events_of(recorded), 1);
    walk(
        recorded, [](const trace_event&) {},
        [&](const held_block& block, std::uint64_t event, std::uint64_t allocated, bool at_end) {
            if (group_of_stack[block.stack] == no_group) return;
            death_figures& of = made[group_of_stack[block.stack]];
            const double bytes = static_cast<double>(block.bytes);
            const double lived = static_cast<double>(allocated - block.since_bytes) /
                                 static_cast<double>(std::max<std::uint64_t>(all, 1));
            of.when[at_end ? death_figures::parts : event * death_figures::parts / events] += bytes;
            of.lifetimes[at_end || lived >= 0.5 ? 3 : lived >= 0.1 ? 2 : lived >= 0.01 ? 1 : 0] += bytes;
        });
    return made;
}

}
