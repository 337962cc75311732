// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does it cost to make, traverse and destroy a scene graph, and does memory of its own make it faster?
///
/// Unfair would be: nodes without virtual functions and counted references, unlike real scene graphs; a single pass,
/// after which no allocator has reused anything; huge pages for one row and not for another without saying so.
/// It does not show: threads that free each other's nodes, or a graph that changes a little in every frame.

#include "bench/experiments/scene/scene.hpp"

#include <array>
#include <string_view>

#include "bench/experiments/scene/scene_memory.hpp"
#include "bench/experiments/scene/scene_model.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 5> options{{
    {"levels", 9, 12, 1, 20,
     "levels of the quad tree below its root: 9 have 350 000 nodes; each further level has "
     "four times as many. Memory is the limit: 14 have 358 million nodes and need 14 GiB as quads"},
    {"traversals", 5, 10, 1, 1'000'000, "times that the tree is traversed in each pass"},
    {"passes", 2, 3, 1, 1000,
     "times that it is made and destroyed in one process; those after the first are reported separately"},
    {"grid", 8, 32, 1, 1000, "copies of a model in each of two directions"},
    {"model-traversals", 1000, 100'000, 1, 10'000'000, "like --traversals, for a model"},
}};

constexpr std::array<part, 7> parts{{{"quads"},
                                     {"groups"},
                                     {"shared_ptr"},
                                     {"quads with data"},
                                     {"model"},
                                     {"two threads"},
                                     {"two threads with data"}}};

constexpr std::array<std::string_view, 11> unfair{
    "The trees are those of VulkanSceneGraph's vsggroups: a node of 24 bytes with a table of virtual functions, an "
    "atomic reference count and a pointer to auxiliary data; a quad contains four children (56 bytes), a group has "
    "a vector of them. A visitor walks them with two virtual calls per node. Code and nodes are the same for all "
    "rows, except for the memory.",
    "A tree is made depth first, so an allocator that allocates in order places a parent before its children. It is "
    "destroyed by releasing its root, children before their parents.",
    "With data: each node also has 64 to 512 bytes of data and a name of 24 to 48, made right after it, with one "
    "level less. Traversals do not read them; memory per kind of object keeps them away from the nodes.",
    "The names, the nodes and the data are three kinds; a malloc cannot tell them apart. A heap, or a bump, per "
    "kind is what a program could use without a library for it.",
    "A model's nodes are groups, and each mesh that a node shows is a child node with the mesh's data, at most 4 "
    "KiB of it; the copies of the grid share nothing.",
    "Two threads: each makes, traverses and destroys a tree of its own, at the same time and in one memory. A time is "
    "that of the slower thread, per node of its tree. Memories for one thread are left out, as are heaps per kind: "
    "only the thread that made a mimalloc heap allocates from it.",
    "OpenSceneGraph has its own nodes and visitor, made and visited in the same order: its row is another scene "
    "graph, not another allocator.",
    "Between the passes all memory is freed node by node, and nothing is trimmed. Later passes are the median of "
    "those after the first.",
    "\"Beyond the nodes\" is the resident memory when the first tree is complete, minus the bytes of the nodes and "
    "their vectors, names and data, per node.",
    "VulkanSceneGraph's own allocators are part of that library. The rows \"VSG ... design (rebuilt)\" are our own "
    "code "
    "after their author's account, with the lock that he describes, so they show what the designs cost and not what "
    "the "
    "originals do. They are references and have no rank.",
    "Rows \"with huge pages\" ask the system for pages of 2 MiB, which no other row does except mallocs that do so "
    "by themselves; the memory tables show the result. In this library's rows every free passes the size; \"sizes "
    "found\" also remembers where objects begin, so that a free could omit it.",
};

constexpr std::array<contestant_source, 5> sources{tenure_in_scene, mallocs_in_scene, openscenegraph_in_scene,
                                                   rebuilt_in_scene, references_in_scene};

constexpr input_spec model{
    "A model of any format that assimp reads, in the same nodes: only this part runs, unless --parts names others",
    std::uint64_t{1} << scene_part::model, read_model};

// Memory is primary wherever it is measured, in every variant: times alone would hide the benefit of retaining memory.
constexpr std::array<primary_figure, 8> primary{{{"create", "quads*"},
                                                 {"traverse", "quads*"},
                                                 {"destroy", "quads*"},
                                                 {"create", "two threads*"},
                                                 {"destroy", "two threads*"},
                                                 {"drop all by one call", "quads*"},
                                                 {"peak"},
                                                 {"resident beyond the nodes"}}};

constexpr experiment described{
    .name = "scene",
    .question =
        "What does it cost to make, traverse and destroy a scene graph of small counted nodes, and is it faster "
        "when objects visited together are stored together?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = "Geometric mean of the ratios to glibc malloc over the times. References are not choices and "
                    "are left out.",
    .unranked = {},
    .primary = primary,
    .example = "tenure bench scene --levels 11 --parts quads --against mimalloc",
    .input = &model,
    .refuse = refuse_scene,
};

}

const experiment scene_experiment = described;

}
