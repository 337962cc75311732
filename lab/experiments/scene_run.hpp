// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A part of scene, with a memory.

#include "experiments/scene_model.hpp"

namespace tenure::lab {

template<class Memory>
void run_scene(const task& asked) {
    std::size_t const levels = asked.options.size("levels");
    scene_plan const plan{levels, nodes_of_tree(levels), asked.options.size("traversals")};
    Memory::open();
    block_owner const owner = Memory::owner();
    switch (asked.part) {
    case scene_part::quads:
        return run_tree<quad_tree<Memory>>(asked, plan, fmt::format("quads, {} levels", levels), owner);
    case scene_part::groups: return run_tree<group_tree<Memory>>(asked, plan, groups_variant(levels), owner);
    case scene_part::shared:
        return run_tree<shared_tree<Memory>>(asked, plan, fmt::format("shared_ptr, {} levels", levels), owner);
    case scene_part::model: return run_model<Memory>(asked, owner);
    default: {
        std::size_t const fewer = levels > 1 ? levels - 1 : levels;
        return run_tree<data_tree<Memory>>(asked, {fewer, nodes_of_tree(fewer), plan.traversals},
                                           fmt::format("quads with data, {} levels", fewer), owner);
    }
    }
}

}
