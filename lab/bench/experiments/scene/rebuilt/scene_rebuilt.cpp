// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// VulkanSceneGraph's two allocators in scene, as we rebuilt their designs, and labelled so. References, like every
/// design that we rebuild: they take no part in the rankings.

#include <array>
#include <mutex>
#include <optional>
#include <string_view>

#include "bench/experiments/scene/rebuilt/element_blocks.hpp"
#include "bench/experiments/scene/rebuilt/mapped_blocks.hpp"
#include "bench/experiments/scene/scene_memory.hpp"
#include "bench/experiments/scene/scene_run.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

namespace {

/// Blocks of 1 MiB, and of 16 MiB for data, for each kind of object; one mutex for all, as in the originals.
template<class Blocks>
struct vsg_memory {
    static inline std::mutex lock;
    static inline std::array<std::optional<Blocks>, kind_count> all;

    static void open() {
        for (std::size_t i = 0; i < kind_count; ++i) {
            all[i].emplace(std::size_t{i == static_cast<std::size_t>(kind::data) ? 16u : 1u} << 20);
        }
    }
    static void* allocate(kind which, std::size_t bytes) {
        const std::scoped_lock held(lock);
        return all[static_cast<std::size_t>(which)]->allocate(bytes);
    }
    static void deallocate(kind which, void* block, std::size_t) {
        const std::scoped_lock held(lock);
        all[static_cast<std::size_t>(which)]->deallocate(block);
    }
    static block_owner owner() {
        block_owner made;
        made.query = "its blocks";
        made.asked = &*all[static_cast<std::size_t>(kind::nodes)];
        made.owns = [](const void* self, const void* block) { return static_cast<const Blocks*>(self)->owns(block); };
        return made;
    }
};

/// Each slot is a node of std::map, which malloc places in 64 bytes.
std::string_view left_out_of_maps(const parameters& options, std::size_t part) {
    return fits_with_more(options, part, 64) ? std::string_view{}
                                             : "with 64 bytes in a map for each object it needs more memory than is "
                                               "available";
}

constexpr std::array<contestant, 2> rows{{
    {.name = "VSG Intrusive design (rebuilt)",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<element_blocks>(),
     .note = "not the original: we rebuilt vsg::IntrusiveAllocator from its author's account. Elements of 4 bytes with "
             "links of 15 bits in the block, first fit, one mutex",
     .parts = scene_part::all,
     .run = run_scene<vsg_memory<element_blocks>>},
    {.name = "VSG MemorySlots design (rebuilt)",
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<mapped_blocks>(),
     .note = "not the original: we rebuilt VulkanSceneGraph's first allocator from its author's account. Free and used "
             "slots in std::map and std::multimap, best fit, one mutex",
     .parts = scene_part::all,
     .run = run_scene<vsg_memory<mapped_blocks>>,
     .left_out = left_out_of_maps},
}};

}

std::span<const contestant> rebuilt_in_scene() { return rows; }

}
