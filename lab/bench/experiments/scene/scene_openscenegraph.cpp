// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenSceneGraph in scene: its nodes, its visitor, its memory.

#include <array>

#include "bench/experiments/modules/modules.hpp"
#include "bench/experiments/modules/scene_modules.hpp"
#include "bench/experiments/scene/scene_memory.hpp"
#include "bench/experiments/scene/scene_workload.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/random_source.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view name = "OpenSceneGraph";
constexpr const char* file = "tenure_lab_openscenegraph.so";

/// Has the interface of the other trees: a root that is released when it is destroyed.
struct foreign_tree {
    static inline const scene_module* code = nullptr;

    class root {
    public:
        root() = default;
        explicit root(void* tree) : tree_(tree) {}
        root(root&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)) {}
        root& operator=(root&& other) noexcept {
            if (tree_ != nullptr) code->destroy(tree_);
            tree_ = std::exchange(other.tree_, nullptr);
            return *this;
        }
        ~root() {
            if (tree_ != nullptr) code->destroy(tree_);
        }
        [[nodiscard]] void* get() const { return tree_; }

    private:
        void* tree_ = nullptr;
    };
    struct inspection {
        std::size_t shown = 0, bytes = 0;
        bool intact = true;
    };

    static root make(std::size_t levels, random_source&) { return root(code->make(levels)); }
    static std::size_t count(const root& tree) { return code->traverse(tree.get()); }
    static inspection inspect(const root& tree, std::span<void*> places) {
        return {code->show(tree.get(), places.data(), places.size()), code->bytes(tree.get()), true};
    }
};

void run_openscenegraph(const task& asked) {
    const loaded_module found = load_module(file, "tenure_lab_scene");
    if (found.symbol == nullptr) return asked.out.fail(found.reason);
    foreign_tree::code = static_cast<const scene_module*>(found.symbol);
    const std::size_t levels = asked.options.size("levels");
    run_tree<foreign_tree>(asked, {levels, nodes_of_tree(levels), asked.options.size("traversals")},
                           groups_variant(levels), {});
}

/// Its nodes take about 260 bytes.
std::string_view left_out_of_openscenegraph(const parameters& options, std::size_t part) {
    return fits_with_more(options, part, 240) ? std::string_view{} : "its nodes need more memory than is available";
}

constexpr std::array<contestant, 1> all{{
    {.name = name,
     .how = route::inlined,
     .role = contestant_role::peer,
     .peer = name,
     .kind = "library",
     .type = "osg::Group",
     .note = "osg::Group, osg::Node and osg::NodeVisitor, on the C library's malloc: its own nodes, five to eleven "
             "times as large",
     .parts = std::uint64_t{1} << scene_part::groups,
     .run = run_openscenegraph,
     .left_out = left_out_of_openscenegraph},
}};

}

library_peer openscenegraph_peer() { return {name, "libopenscenegraph-dev", {}, !find_own_library(file).empty(), {}}; }

std::span<const contestant> openscenegraph_in_scene() { return all; }

}
