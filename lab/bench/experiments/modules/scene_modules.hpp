// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The interfaces of modules. A module wraps another project's libraries that run code before main() or load many
/// others, so that only workers that need it load it, and no other worker has traces of it in its memory.

#include <cstddef>
#include <cstdint>

namespace tenure::lab {

/// A quad tree of another library's nodes. In tenure_lab_openscenegraph.so as `tenure_lab_scene`.
struct scene_module {
    void* (*make)(std::size_t levels);
    std::size_t (*traverse)(void* tree); ///< returns the number of nodes that a visitor has seen
    std::size_t (*bytes)(void* tree);    ///< the nodes' own, and those of their arrays of children
    std::size_t (*show)(void* tree, void** places, std::size_t most); ///< writes addresses, returns their number
    void (*destroy)(void* tree);
};

/// A node of a model, before its children.
struct model_node {
    std::uint32_t children;
    std::uint32_t data_bytes; ///< of the mesh that it shows; zero without a mesh
};

/// Reads models. In tenure_lab_assimp.so as `tenure_lab_model`.
struct model_module {
    /// Calls `node` for each node.
    /// Returns   nullptr, or why the file cannot be read: a text that stays valid until the next call.
    const char* (*read)(const char* path, void (*node)(void* context, model_node node), void* context);
};

}
