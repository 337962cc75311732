// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The allocators that vulkan_scene chooses from, by name.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

#include <tenure/affinity/affinities.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/block_pool.hpp>

namespace scene {

enum class use : std::uint8_t {
    node, ///< visited in every frame
    data, ///< belongs to a node; a frame does not read it
};

struct allocator {
    std::string_view name;
    std::string_view note;
    /// Returns   false when it cannot be configured.
    bool (*open)();
    void* (*allocate)(use what, std::size_t bytes);
    void (*deallocate)(use what, void* block, std::size_t bytes);
};

inline bool as_it_is() { return true; }

inline tenure::affinity_group& group_of(use what) {
    return what == use::node ? tenure::affinities::nodes() : tenure::affinities::data();
}
inline void* allocate_in_group(use what, std::size_t bytes) { return group_of(what).allocate(bytes); }
inline void deallocate_in_group(use what, void* block, std::size_t bytes) { group_of(what).deallocate(block, bytes); }

/// Configures the ready-made group of the nodes, before its first object.
inline bool configure_nodes(tenure::block_source& source) {
    tenure::affinity_options options;
    options.layout = tenure::page_layout::by_size;
    options.sizes = tenure::size_on_free::required;
    return group_of(use::node).configure(options, source);
}

inline constexpr std::size_t mesh_bytes = 48, group_bytes = 56;

/// A pool for each size of node; data is on the process heap.
inline tenure::block_pool& pool_of(std::size_t bytes) {
    static tenure::block_pool meshes(mesh_bytes, 8), groups(group_bytes, 8);
    return bytes <= mesh_bytes ? meshes : groups;
}

inline constexpr allocator allocators[]{
    {"malloc", "the process's malloc, for nodes and data", as_it_is,
     [](use, std::size_t bytes) { return std::malloc(bytes); },
     [](use, void* block, std::size_t) { std::free(block); }},
    {"heap", "tenure::heap::process(), for nodes and data", as_it_is,
     [](use, std::size_t bytes) { return tenure::heap::process().allocate(bytes); },
     [](use, void* block, std::size_t) { tenure::heap::process().deallocate(block); }},
    {"affinity", "affinities::nodes() and affinities::data() with their defaults", as_it_is, allocate_in_group,
     deallocate_in_group},
    {"affinity-by-size", "the same; nodes by size, and every free passes the size",
     [] { return configure_nodes(tenure::page_source::process()); }, allocate_in_group, deallocate_in_group},
    {"affinity-huge-pages", "the same; nodes by size, on pages of 2 MiB if the system has them",
     [] {
         static tenure::page_source huge(tenure::page_size::huge);
         return configure_nodes(huge);
     },
     allocate_in_group, deallocate_in_group},
    {"pool", "a tenure::block_pool for each size of node; data on the process heap", as_it_is,
     [](use what, std::size_t bytes) {
         return what == use::node ? pool_of(bytes).allocate() : tenure::heap::process().allocate(bytes);
     },
     [](use what, void* block, std::size_t bytes) {
         what == use::node ? pool_of(bytes).deallocate(block) : tenure::heap::process().deallocate(block);
     }},
};

inline const allocator* chosen = &allocators[2];

inline void* allocate(use what, std::size_t bytes) {
    void* const block = chosen->allocate(what, bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

}
