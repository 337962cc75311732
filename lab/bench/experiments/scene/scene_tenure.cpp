// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Affinity groups in scene: one for nodes, one for data, one for everything else.

#include <array>
#include <new>
#include <optional>
#include <string_view>

#include <tenure/affinity/affinities.hpp>
#include <tenure/affinity/affinity_group.hpp>

#include "bench/experiments/scene/scene_run.hpp"

namespace tenure::lab {

namespace {

/// Three groups of the same type, at addresses that are known at compile time.
template<size_on_free Sizes, page_layout Layout, page_size Pages = page_size::ordinary,
         sharing Threads = sharing::one_thread>
struct groups {
    static inline page_source source{Pages};
    static inline std::array<std::optional<affinity_group>, kind_count> all;

    static void open() {
        constexpr std::array<std::string_view, kind_count> names{"objects", "data", "nodes"};
        affinity_options options;
        options.sizes = Sizes;
        options.layout = Layout;
        options.threads = Threads;
        for (std::size_t i = 0; i < kind_count; ++i) all[i].emplace(names[i], options, source);
    }
    static void* allocate(kind which, std::size_t bytes) {
        return all[static_cast<std::size_t>(which)]->allocate(bytes);
    }
    static void deallocate(kind which, void* block, std::size_t bytes) {
        all[static_cast<std::size_t>(which)]->deallocate(block, bytes);
    }
    static void clear() {
        for (std::optional<affinity_group>& each : all) each->clear();
    }
    static block_owner owner() {
        block_owner made;
        made.query = "affinity_group::owns";
        made.asked = &*all[static_cast<std::size_t>(kind::nodes)];
        made.owns = [](const void* self, const void* block) {
            return static_cast<const affinity_group*>(self)->owns(block);
        };
        return made;
    }
};

using mixed_optional = groups<size_on_free::optional, page_layout::mixed>;
using mixed = groups<size_on_free::required, page_layout::mixed>;
using mixed_huge = groups<size_on_free::required, page_layout::mixed, page_size::huge>;
using by_size = groups<size_on_free::required, page_layout::by_size>;
using by_size_huge = groups<size_on_free::required, page_layout::by_size, page_size::huge>;
using any_thread = groups<size_on_free::required, page_layout::mixed, page_size::ordinary, sharing::any_thread>;

/// The ready-made groups with their defaults, as a user of affinity_object has them.
struct ready_made {
    static void open() {}
    static affinity_group& group(kind which) {
        switch (which) {
        case kind::objects: return affinities::objects();
        case kind::data: return affinities::data();
        case kind::nodes: break;
        }
        return affinities::nodes();
    }
    static void* allocate(kind which, std::size_t bytes) { return group(which).allocate(bytes); }
    static void deallocate(kind which, void* block, std::size_t bytes) { group(which).deallocate(block, bytes); }
    static void clear() {
        for (const kind each : {kind::objects, kind::data, kind::nodes}) group(each).clear();
    }
    static block_owner owner() {
        block_owner made;
        made.query = "affinity_group::owns";
        made.asked = &affinities::nodes();
        made.owns = [](const void* self, const void* block) {
            return static_cast<const affinity_group*>(self)->owns(block);
        };
        return made;
    }
};

constexpr std::string_view type = "tenure::affinity_group";

template<class Memory>
constexpr contestant row(std::string_view name, std::string_view note,
                         std::uint64_t parts = scene_part::of_one_thread) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::ours,
            .kind = "inlined",
            .type = type,
            .note = note,
            .parts = parts,
            .run = run_scene<Memory>};
}

constexpr std::array<contestant, 7> all{
    row<mixed>("tenure affinity", "mixed layout, one thread; every free passes the size"),
    row<mixed_huge>("tenure affinity (huge pages)", "the same in pages of 2 MiB, if the system has them"),
    row<by_size>("tenure affinity (by size)",
                 "layout by size: each size in pages of its own, within a cache line where "
                 "possible"),
    row<by_size_huge>("tenure affinity (by size and huge pages)", "the same in pages of 2 MiB, if the system has them"),
    row<mixed_optional>("tenure affinity (size optional)",
                        "like the first, and a free may omit the size; here every free passes it"),
    row<any_thread>("tenure affinity (any thread)", "like the first, for any number of threads", scene_part::all),
    row<ready_made>("tenure affinities (ready-made)",
                    "affinities::nodes(), data() and objects() with their defaults: any thread, size optional",
                    scene_part::all),
};

}

std::span<const contestant> tenure_in_scene() { return all; }

}
