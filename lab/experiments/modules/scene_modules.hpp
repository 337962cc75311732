// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What modules give: libraries of other people that run code before main() or bring much with them, so that only those
/// who need one load it, and no other worker has traces of it in its memory.

#include <cstddef>
#include <cstdint>

namespace tenure::lab {

/// A quad tree of somebody's nodes. In tenure_lab_openscenegraph.so as `tenure_lab_scene`.
struct scene_module {
    void* (*make)(std::size_t levels);
    std::size_t (*traverse)(void* tree);                              ///< nodes that a visitor has seen
    std::size_t (*bytes)(void* tree);                                 ///< the nodes' own, and their arrays of children
    std::size_t (*show)(void* tree, void** places, std::size_t most); ///< where nodes lie; how many were shown
    void (*destroy)(void* tree);
};

/// A node of a model, in front of its children.
struct model_node {
    std::uint32_t children;
    std::uint32_t data_bytes; ///< of the mesh that it shows; zero when none
};

/// Reads models. In tenure_lab_assimp.so as `tenure_lab_model`.
struct model_module {
    /// Calls `node` for each node. Returns   null, or why the file cannot be read: text that stays until the next call.
    const char* (*read)(const char* path, void (*node)(void* context, model_node node), void* context);
};

}
