// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs a part of scene with a memory.

#include "bench/experiments/scene/scene_model.hpp"
#include "bench/experiments/scene/scene_threads.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Objects of the tree's sizes that are all dropped by one call, for memories that support it.
template<class Memory>
void run_clear(const task& asked, std::size_t nodes, const std::string& variant) {
    if constexpr (requires { Memory::clear(); }) {
        for (std::size_t i = 0; i < nodes; ++i) {
            const std::size_t bytes = i % 4 == 0 ? sizeof(typename scene_nodes<Memory>::quad_group)
                                                 : sizeof(typename scene_nodes<Memory>::node);
            void* const object = Memory::allocate(kind::nodes, bytes);
            if (object == nullptr) return asked.out.fail("not enough memory for the objects that are dropped");
            std::memset(object, 1, bytes);
        }
        const stopwatch watch;
        Memory::clear();
        asked.out.value("drop all by one call", variant, "ns/node", watch.elapsed_ns() / static_cast<double>(nodes));
    }
}

template<class Memory>
void run_scene(const task& asked) {
    const std::size_t levels = asked.options.size("levels");
    const scene_plan plan{levels, nodes_of_tree(levels), asked.options.size("traversals")};
    const std::size_t fewer = levels > 1 ? levels - 1 : levels;
    const scene_plan plan_with_data{fewer, nodes_of_tree(fewer), plan.traversals};
    Memory::open();
    const block_owner owner = Memory::owner();
    switch (asked.part) {
    case scene_part::quads: {
        const std::string variant = fmt::format("quads, {} levels", levels);
        run_tree<quad_tree<Memory>>(asked, plan, variant, owner);
        return run_clear<Memory>(asked, plan.nodes, variant);
    }
    case scene_part::groups: return run_tree<group_tree<Memory>>(asked, plan, groups_variant(levels), owner);
    case scene_part::shared:
        return run_tree<shared_tree<Memory>>(asked, plan, fmt::format("shared_ptr, {} levels", levels), owner);
    case scene_part::model: return run_model<Memory>(asked, owner);
    case scene_part::threads:
        return two_trees<quad_tree<Memory>>(asked, plan).run(fmt::format("two threads, {} levels", levels), owner);
    case scene_part::threads_with_data:
        return two_trees<data_tree<Memory>>(asked, plan_with_data)
            .run(fmt::format("two threads with data, {} levels", fewer), owner);
    default:
        return run_tree<data_tree<Memory>>(asked, plan_with_data, fmt::format("quads with data, {} levels", fewer),
                                           owner);
    }
}

}
