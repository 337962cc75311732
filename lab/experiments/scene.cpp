// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does it cost to make, traverse and destroy a scene graph, and does memory of its own make it faster?
///
/// Unfair would be: nodes without virtual functions and counted references, which nobody's scene graph has; one pass,
/// after which no allocator has reused anything; huge pages for one row and not for another without saying so.
/// It does not show: several threads, or a graph that changes a little in every frame.

#include "experiments/scene.hpp"

#include <array>
#include <string_view>

#include "experiments/scene_model.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 5> options{{
    {"levels", 9, 12, 1, 13, "levels of the quad tree below its root: 9 have 350 000 nodes, each more four times that"},
    {"traversals", 5, 10, 1, 1'000'000, "times that the tree is traversed in each pass"},
    {"passes", 2, 3, 1, 1000,
     "times that it is made and destroyed in one process; those after the first are told apart"},
    {"grid", 8, 32, 1, 1000, "of a model: copies of it in each of two directions"},
    {"model-traversals", 1000, 100'000, 1, 10'000'000, "as --traversals, of a model"},
}};

constexpr std::array<part, 5> parts{{{"quads"}, {"groups"}, {"shared_ptr"}, {"quads with data"}, {"model"}}};

constexpr std::array<std::string_view, 9> unfair{
    "The trees are those of VulkanSceneGraph's vsggroups: a node of 24 bytes with a table of virtual functions, an "
    "atomic count of references and a pointer to something auxiliary; a quad has four children in it (56 bytes), a "
    "group a vector of them. A visitor goes over them by two virtual calls a node. Code and nodes are the same for "
    "everybody, save where they get their memory.",
    "A tree is made depth first, so a parent lies in front of its children for whoever allocates in order, and "
    "destroyed by giving up its root, children before their parents.",
    "With data: each node also has 64 to 512 bytes of data and a name of 24 to 48, made right after it, on one level "
    "less. Traversals do not look at them; whoever has memory per kind of object keeps them out of the way.",
    "The names, the nodes and the data are three kinds; a malloc knows none of them. A heap, or a bump, per kind is "
    "what a program could do without a library for it.",
    "A model's nodes are groups, and each mesh that one shows is a node below it with the mesh's data, 4 KiB of it at "
    "most; the copies of the grid share nothing.",
    "OpenSceneGraph has nodes and a visitor of its own, made and visited in the same order: its row is another scene "
    "graph, not another allocator.",
    "Between the passes all memory is freed node by node, and nothing is given back by a call. Later passes are the "
    "median of those after the first.",
    "\"Beyond the nodes\" is what is resident when the first tree stands, less the nodes' own bytes and their "
    "vectors', "
    "names and data, for each node.",
    "Rows \"with huge pages\" ask the system for pages of 2 MiB, which no other row does but those mallocs that do so "
    "by "
    "themselves; the memory tables say what came of it. In the rows of this library every free names the size, but for "
    "\"sizes found\", which remembers where objects begin.",
};

constexpr std::array<contestant_source, 4> sources{tenure_in_scene, mallocs_in_scene, openscenegraph_in_scene,
                                                   references_in_scene};

constexpr input_spec model{
    "A model of any format that assimp reads, in the same nodes: this part alone is run, unless --parts names others",
    std::uint64_t{1} << scene_part::model, read_model};

// Memory is primary wherever it is measured, in every variant: times alone would hide what keeping memory buys.
constexpr std::array<primary_figure, 6> primary{{{"create", "quads*"},
                                                 {"traverse", "quads*"},
                                                 {"destroy", "quads*"},
                                                 {"drop all by one call", "quads*"},
                                                 {"peak"},
                                                 {"resident beyond the nodes"}}};

constexpr experiment described{
    .name = "scene",
    .question =
        "What does it cost to make, traverse and destroy a scene graph of small counted nodes, and is it faster "
        "when what is visited together lies together?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = "Geometric mean of the ratios to glibc malloc over the times. References are no choices, and "
                    "are left out.",
    .unranked = {},
    .primary = primary,
    .example = "tenure bench scene --levels 11 --parts quads --against mimalloc",
    .input = &model,
};

}

const experiment scene_experiment = described;

}
