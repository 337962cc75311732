// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinities.hpp>

#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#include <tenure/base/options.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

// Made at the first call and never destroyed: objects of static duration may be deleted last.
struct ready_made {
    std::atomic<affinity_group*> made{nullptr};
    alignas(affinity_group) unsigned char memory[sizeof(affinity_group)];
};
struct all_groups {
    std::mutex mutex;
    ready_made objects, data, nodes, physics;
};
constinit all_groups all{};

affinity_group& group_of(ready_made& place, const char* name, std::size_t alignment) noexcept {
    affinity_group* group = place.made.load(std::memory_order_acquire);
    if (group != nullptr) return *group;
    std::lock_guard const lock(all.mutex);
    group = place.made.load(std::memory_order_relaxed);
    if (group == nullptr) {
        affinity_options options;
        options.alignment = alignment;
        options.block_bytes = std::bit_floor(static_cast<std::size_t>(option_value(option::affinity_block_bytes)));
        options.threads = sharing::any_thread;
        group = new (place.memory) affinity_group(name, options);
        place.made.store(group, std::memory_order_release);
    }
    return *group;
}

}

affinity_group& affinities::objects() noexcept { return group_of(all.objects, "objects", 8); }
affinity_group& affinities::data() noexcept { return group_of(all.data, "data", 16); }
affinity_group& affinities::nodes() noexcept { return group_of(all.nodes, "nodes", 8); }
affinity_group& affinities::physics() noexcept { return group_of(all.physics, "physics", 16); }

}
