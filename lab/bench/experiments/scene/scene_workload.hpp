// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes, traverses and destroys a quad tree repeatedly in one process. For the memory interface, see
/// `scene_nodes.hpp`. Besides that, a memory has `open()`, `owner()`, and `clear()` if it can drop everything by one
/// call.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "bench/experiments/scene/scene.hpp"
#include "bench/experiments/scene/scene_nodes.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// The number of nodes of a tree with this many levels below its root.
[[nodiscard]] constexpr std::size_t nodes_of_tree(std::size_t levels) {
    std::size_t count = 1;
    for (std::size_t level = 0; level < levels; ++level) count = count * 4 + 1;
    return count;
}

/// The forms of the tree. Each can make one, visit it, and show its nodes.
template<class Memory>
struct counted_tree {
    using nodes = scene_nodes<Memory>;
    using root = typename nodes::reference;

    class counter final : public nodes::visitor {
    public:
        void apply(typename nodes::node& visited) override {
            ++count;
            visited.traverse(*this);
        }
        std::size_t count = 0;
    };

    static std::size_t count(const root& tree) {
        counter visit;
        tree.get()->accept(visit);
        return visit.count;
    }

    /// Visits every node and records the addresses of the first ones.
    class inspector final : public nodes::visitor {
    public:
        explicit inspector(std::span<void*> places) : places_(places) {}
        void apply(typename nodes::node& visited) override {
            if (shown < places_.size()) places_[shown++] = &visited;
            bytes += visited.bytes();
            intact &= visited.references() == 1;
            if (const auto* const data = visited.attached(); data != nullptr) {
                intact &= data->intact();
                bytes += sizeof *data + data->data_bytes + data->name_bytes;
            }
            visited.traverse(*this);
        }
        std::size_t shown = 0;
        std::size_t bytes = 0;
        bool intact = true;

    private:
        std::span<void*> places_;
    };
    static inspector inspect(const root& tree, std::span<void*> places) {
        inspector visit(places);
        tree.get()->accept(visit);
        return visit;
    }
};

template<class Memory>
struct quad_tree : counted_tree<Memory> {
    using typename counted_tree<Memory>::nodes;
    using typename counted_tree<Memory>::root;
    static root make(std::size_t levels, random_source&) { return below(levels); }
    static root below(std::size_t levels) {
        if (levels == 0) return root(new typename nodes::node);
        auto* const made = new typename nodes::quad_group;
        root holds(made);
        for (root& child : made->children) child = below(levels - 1);
        return holds;
    }
};

template<class Memory>
struct group_tree : counted_tree<Memory> {
    using typename counted_tree<Memory>::nodes;
    using typename counted_tree<Memory>::root;
    static root make(std::size_t levels, random_source&) { return below(levels); }
    static root below(std::size_t levels) {
        if (levels == 0) return root(new typename nodes::node);
        auto* const made = new typename nodes::group;
        root holds(made);
        made->children.reserve(4);
        for (int i = 0; i < 4; ++i) made->children.push_back(below(levels - 1));
        return holds;
    }
};

/// The quad tree with data and a name on every node.
template<class Memory>
struct data_tree : counted_tree<Memory> {
    using typename counted_tree<Memory>::nodes;
    using typename counted_tree<Memory>::root;
    static root make(std::size_t levels, random_source& random) { return below(levels, random); }
    static root below(std::size_t levels, random_source& random) {
        const auto bytes = static_cast<std::uint32_t>(64 + random.below(449));
        const auto stamp = static_cast<std::uint32_t>(random());
        if (levels == 0) {
            root leaf(new typename nodes::node);
            leaf.get()->attach(bytes, stamp);
            return leaf;
        }
        auto* const made = new typename nodes::quad_group;
        root holds(made);
        made->attach(bytes, stamp);
        for (root& child : made->children) child = below(levels - 1, random);
        return holds;
    }
};

template<class Memory>
struct shared_tree {
    using nodes = scene_nodes<Memory>;
    using root = typename nodes::shared_reference;
    static root make(std::size_t levels, random_source&) { return below(levels); }
    static root below(std::size_t levels) {
        if (levels == 0) return nodes::template make_shared_node<typename nodes::shared_node>();
        const auto made = nodes::template make_shared_node<typename nodes::shared_group>();
        made->children.reserve(4);
        for (int i = 0; i < 4; ++i) made->children.push_back(below(levels - 1));
        return made;
    }
    static std::size_t count(const root& tree) {
        std::size_t visited = 0;
        tree->count(visited);
        return visited;
    }
    struct inspection {
        std::size_t shown = 0, bytes = 0;
        bool intact = true;
    };
    static inspection inspect(const root& tree, std::span<void*> places) {
        inspection found;
        look(tree, places, found);
        return found;
    }
    static void look(const root& at, std::span<void*> places, inspection& found) {
        if (found.shown < places.size()) places[found.shown++] = at.get();
        found.bytes += at->bytes() + 16; // the counts and their table of functions
        found.intact &= at.use_count() == 1;
        const auto* const inner = dynamic_cast<const typename nodes::shared_group*>(at.get());
        if (inner == nullptr) return;
        for (const root& child : inner->children) look(child, places, found);
    }
};

/// What to make, and how often to traverse it.
struct scene_plan {
    std::size_t levels;
    std::size_t nodes;
    std::size_t traversals;
};

template<class Tree>
void run_tree(const task& asked, const scene_plan& plan, const std::string& variant, const block_owner& owner) {
    using root = typename Tree::root;
    const auto per_node = static_cast<double>(plan.nodes);
    const std::size_t passes = asked.options.size("passes");
    const page_array<double> created(passes), traversed(passes), destroyed(passes);
    const page_array<void*> places(4096);
    const memory_meter meter;
    double resident_mib = 0;
    std::size_t own_bytes = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        random_source random(asked.seed + pass);
        stopwatch watch;
        root tree = Tree::make(plan.levels, random);
        created[pass] = watch.elapsed_ns() / per_node;
        std::size_t visited = 0;
        watch.restart();
        for (std::size_t i = 0; i < plan.traversals; ++i) visited += Tree::count(tree);
        traversed[pass] = watch.elapsed_ns() / per_node / static_cast<double>(plan.traversals);
        const auto found = Tree::inspect(tree, places.all());
        if (!found.intact || visited != plan.nodes * plan.traversals) return asked.out.fail(wrong_contents);
        if (pass == 0) {
            resident_mib = meter.resident_mib();
            own_bytes = found.bytes;
            asked.out.blocks(places.all().first(found.shown), sizeof(void*), owner);
        }
        watch.restart();
        tree = root();
        destroyed[pass] = watch.elapsed_ns() / per_node;
    }
    asked.out.value("create", variant, "ns/node", created[0]);
    asked.out.value("traverse", variant, "ns/node", traversed[0]);
    asked.out.value("destroy", variant, "ns/node", destroyed[0]);
    if (passes > 1) {
        const std::string later = variant + ", later passes";
        asked.out.value("create", later, "ns/node", median_of(created.all().subspan(1)));
        asked.out.value("traverse", later, "ns/node", median_of(traversed.all().subspan(1)));
        asked.out.value("destroy", later, "ns/node", median_of(destroyed.all().subspan(1)));
    }
    asked.out.value("peak", variant, "MiB", meter.peak_mib());
    asked.out.value("resident beyond the nodes", variant, "B/node",
                    resident_mib * 1024 * 1024 / per_node - static_cast<double>(own_bytes) / per_node);
}

[[nodiscard]] inline std::string groups_variant(std::size_t levels) { return fmt::format("groups, {} levels", levels); }

}
