// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The call stacks of a trace as a tree: the root's children are the places that call malloc, theirs are the callers.
/// Only frames in files with a build ID are in it, at most max_site_frames: the first other one ends a stack.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "observe/replay/separation/separation.hpp"

namespace tenure::lab {

/// The class of the calls whose stacks end in a node.
struct wanted_class {
    std::uint8_t number = ordinary_class;
    bool is_any = true; ///< too few calls to say: the class that takes the fewest sites
};

class site_tree {
public:
    static constexpr std::uint32_t root =
        0; ///< of stacks whose first frame is not in the code of a file with a build ID

    explicit site_tree(const trace& recorded);

    /// Nodes, with the root. Each comes behind its parent.
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    /// The node in which a stack of the trace ends.
    [[nodiscard]] std::uint32_t node_of(std::uint32_t stack) const {
        return stack < ends_.size() ? ends_[stack] : root;
    }
    /// The node, or its ancestor with at most `frames` frames.
    [[nodiscard]] std::uint32_t shortened(std::uint32_t node, std::size_t frames) const;

    /// The fewest sites that give each node its class; of as few, those with the fewest frames.
    /// Requires  `wanted` has a class for each node; the root's is ordinary.
    [[nodiscard]] separation sites_for(std::span<const wanted_class> wanted) const;

private:
    struct tree_node {
        advice_frame frame;
        std::uint32_t parent;
        std::uint32_t depth;
    };

    [[nodiscard]] std::vector<advice_frame> path_to(std::uint32_t index) const;

    std::vector<advice_object> objects_;
    std::vector<tree_node> nodes_{{{}, 0, 0}};
    std::vector<std::uint32_t> ends_; // by stack
};

}
