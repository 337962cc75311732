// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/affinity/related_blocks.hpp"

#include <algorithm>

namespace tenure::lab {

namespace {

constexpr std::uint64_t no_related = ~std::uint64_t{0};

/// Blocks in the order in which a thread, or a call stack, has given out names: by allocations and resizes.
class name_orders {
public:
    explicit name_orders(const trace& of) : stacks_(of.blocks) {
        by_thread_.resize(of.threads);
        by_stack_.resize(of.stacks.size());
        for (const trace_event& each : of.events) {
            if (each.call != trace_call::allocate && each.call != trace_call::resize) continue;
            // The older blocks of a part stand before it, without those that were freed in between.
            if (each.call == trace_call::allocate && each.block < of.older_blocks) continue;
            // The name of a resize is of a block that has a place of its own already.
            const std::uint64_t named = each.call == trace_call::allocate ? each.block : no_related;
            by_thread_[each.thread].push_back(named);
            by_stack_[each.stack].push_back(named);
            if (named != no_related) stacks_[named] = each.stack;
        }
    }

    /// Calls `visit` with each two blocks of a relation.
    template<class Visit>
    void for_each(const block_relation& relation, Visit&& visit) const {
        if (relation.first >= by_stack_.size() || relation.second >= by_stack_.size()) return;
        if (relation.choice == window_choice::matched) {
            const auto &one = by_stack_[relation.first], &other = by_stack_[relation.second];
            for (std::size_t index = 0; index < std::min(one.size(), other.size()); ++index)
                visit(one[index], other[index]);
            return;
        }
        for (const std::vector<std::uint64_t>& all : by_thread_) {
            for (std::size_t index = 0; relation.distance < all.size() && index < all.size() - relation.distance;
                 ++index) {
                const std::uint64_t one = all[index], other = all[index + relation.distance];
                if (one != no_related && other != no_related && stacks_[one] == relation.first &&
                    stacks_[other] == relation.second)
                    visit(one, other);
            }
        }
    }

private:
    std::vector<std::vector<std::uint64_t>> by_thread_, by_stack_;
    std::vector<std::uint32_t> stacks_; // by block
};

}

std::vector<std::uint32_t> related_slots(const trace& recorded, std::span<const block_relation> relations,
                                         const replay_plan& plan) {
    std::vector<std::uint64_t> earlier(recorded.blocks, no_related); // by block
    const name_orders orders(recorded);
    for (const block_relation& each : relations) {
        orders.for_each(each, [&](std::uint64_t one, std::uint64_t other) {
            if (one == no_related || other == no_related || one == other) return;
            const auto [first, second] = std::minmax(one, other); // blocks are numbered in the order of allocation
            if (earlier[second] == no_related) earlier[second] = first;
        });
    }
    std::vector<std::uint32_t> found(plan.ops.size(), no_neighbour);
    std::vector<std::uint32_t> slots(recorded.blocks, no_neighbour); // by block, while it is in use
    std::size_t next = 0;
    for (const trace_event& event : recorded.events) {
        if (event.call == trace_call::mark) continue;
        if (event.call == trace_call::resize) ++next; // plan_call::written
        const std::size_t op = next++;
        if (event.call == trace_call::deallocate) slots[event.block] = no_neighbour;
        if (event.call != trace_call::allocate) continue;
        slots[event.block] = plan.ops[op].slot;
        if (earlier[event.block] != no_related) found[op] = slots[earlier[event.block]];
    }
    return found;
}

}
