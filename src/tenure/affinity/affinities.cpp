// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinities.hpp>

#include <atomic>
#include <bit>
#include <new>

#include <tenure/base/options.hpp>
#include <tenure/platform/fork_handler.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

// Created at the first call and never destroyed: objects of static duration may be deleted after everything else.
struct ready_made {
    std::atomic<affinity_group*> made{nullptr};
    alignas(affinity_group) unsigned char memory[sizeof(affinity_group)];
};
constinit ready_made made_objects{}, made_data{}, made_nodes{}, made_physics{};

affinity_group& group_of(ready_made& place, const char* name, std::size_t alignment) noexcept {
    affinity_group* group = place.made.load(std::memory_order_acquire);
    if (group != nullptr) return *group;
    // Before the lock: the first query may report an invalid value to a handler that allocates.
    const std::uint64_t block_bytes = option_value(option::affinity_block_bytes);
    const platform::lock_guard lock(platform::making_mutex());
    group = place.made.load(std::memory_order_relaxed);
    if (group == nullptr) {
        affinity_options options;
        options.alignment = alignment;
        options.block_bytes = std::bit_floor(static_cast<std::size_t>(block_bytes));
        options.threads = sharing::any_thread;
        group = new (place.memory) affinity_group(name, options);
        place.made.store(group, std::memory_order_release);
    }
    return *group;
}

}

affinity_group& affinities::objects() noexcept { return group_of(made_objects, "objects", 8); }
affinity_group& affinities::data() noexcept { return group_of(made_data, "data", 16); }
affinity_group& affinities::nodes() noexcept { return group_of(made_nodes, "nodes", 8); }
affinity_group& affinities::physics() noexcept { return group_of(made_physics, "physics", 16); }

}
