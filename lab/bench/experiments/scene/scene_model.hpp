// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A model from a file, in the nodes of scene: the part for --input FILE.

#include <algorithm>

#include "bench/experiments/modules/scene_modules.hpp"
#include "bench/experiments/scene/scene_workload.hpp"
#include "bench/harness/random_source.hpp"

namespace tenure::lab {

/// The model's nodes as read by the command, each before its children; mapped, so that they are on no heap.
[[nodiscard]] std::span<const model_node> nodes_of_model(int descriptor);

/// For experiment::input.
[[nodiscard]] std::string read_model(const std::string& path, int descriptor);

/// Copies of the model in a grid: a group of rows, each a group of copies.
template<class Memory>
struct model_tree : counted_tree<Memory> {
    using typename counted_tree<Memory>::nodes;
    using typename counted_tree<Memory>::root;

    static inline std::span<const model_node> model;
    static inline std::size_t grid;

    static std::size_t node_count() { return 1 + grid + grid * grid * model.size(); }

    static root make(std::size_t, random_source& random) {
        auto* const all = new typename nodes::group;
        root holds(all);
        all->children.reserve(grid);
        for (std::size_t row = 0; row < grid; ++row) {
            auto* const copies = new typename nodes::group;
            all->children.push_back(root(copies));
            copies->children.reserve(grid);
            for (std::size_t i = 0; i < grid; ++i) {
                std::size_t at = 0;
                copies->children.push_back(below(at, random));
            }
        }
        return holds;
    }

private:
    static root below(std::size_t& at, random_source& random) {
        const model_node described = model[at++];
        if (described.children == 0) {
            root leaf(new typename nodes::node);
            if (described.data_bytes != 0)
                leaf.get()->attach(described.data_bytes, static_cast<std::uint32_t>(random()));
            return leaf;
        }
        auto* const made = new typename nodes::group;
        root holds(made);
        made->children.reserve(described.children);
        for (std::uint32_t i = 0; i < described.children; ++i) made->children.push_back(below(at, random));
        return holds;
    }
};

template<class Memory>
void run_model(const task& asked, const block_owner& owner) {
    using tree = model_tree<Memory>;
    tree::model = nodes_of_model(asked.options.input());
    if (tree::model.empty()) return asked.out.fail("the worker did not receive the model");
    tree::grid = asked.options.size("grid");
    run_tree<tree>(asked, {0, tree::node_count(), asked.options.size("model-traversals")}, "model", owner);
}

}
