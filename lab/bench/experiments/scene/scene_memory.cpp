// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Computes the memory of the trees from the sizes of their nodes.

#include "bench/experiments/scene/scene_memory.hpp"

#include <fmt/format.h>

#include "bench/experiments/scene/scene_model.hpp"
#include "bench/experiments/scene/scene_threads.hpp"
#include "bench/harness/machine/memory.hpp"

namespace tenure::lab {

namespace {

/// Its sizes are those of every memory.
struct no_memory {
    static void* allocate(kind, std::size_t) { return nullptr; }
    static void deallocate(kind, void*, std::size_t) {}
};
using nodes = scene_nodes<no_memory>;

constexpr std::size_t in_malloc(std::size_t bytes) { return align_up(bytes + 8, 16); }

constexpr std::size_t leaf = in_malloc(sizeof(nodes::node));
constexpr std::size_t group = in_malloc(sizeof(nodes::group));
constexpr std::size_t shared_counts = 16; ///< of std::shared_ptr, with its table of functions

constexpr std::size_t attached = in_malloc(sizeof(nodes::attachment));
constexpr std::size_t average_name = in_malloc(36);

/// A tree of four children per inner node. `per_node` is added to every node, as `blocks_per_node` blocks.
scene_size quad_size(std::size_t levels, std::size_t inner, std::size_t outer, std::size_t blocks_per_inner,
                     std::size_t per_node = 0, std::size_t blocks_per_node = 0) {
    const std::size_t all = nodes_of_tree(levels), within = levels == 0 ? 0 : nodes_of_tree(levels - 1);
    return {all, all * (1 + blocks_per_node) + within * (blocks_per_inner - 1),
            within * inner + (all - within) * outer + all * per_node};
}

scene_size times(std::size_t trees, const scene_size& one) {
    return {one.nodes * trees, one.blocks * trees, one.bytes * trees};
}

scene_size model_size(const parameters& options) {
    scene_size one{};
    for (const model_node& each : nodes_of_model(options.input())) {
        ++one.nodes;
        ++one.blocks;
        one.bytes += each.children == 0 ? leaf : group + in_malloc(each.children * sizeof(void*));
        one.blocks += each.children != 0;
        if (each.data_bytes == 0) continue;
        one.blocks += 3;
        one.bytes += attached + in_malloc(each.data_bytes) + average_name;
    }
    return times(options.size("grid") * options.size("grid"), one);
}

std::string_view name_of(std::size_t part) { return scene_experiment.parts[part].name; }

bool chosen(std::uint64_t parts, std::size_t part) { return (parts >> part & 1u) != 0; }

constexpr double gib(std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

/// The largest value of an option with which a part fits; 0 when none does.
std::int64_t largest_that_fits(parameters options, std::size_t part, std::string_view option, std::size_t limit) {
    std::int64_t fits = 0, too_large = options[option];
    while (too_large - fits > 1) {
        const std::int64_t middle = fits + (too_large - fits) / 2;
        options.set(option, middle);
        (size_of_part(options, part).bytes <= limit ? fits : too_large) = middle;
    }
    return fits;
}

}

scene_size size_of_part(const parameters& options, std::size_t part) {
    const std::size_t levels = options.size("levels");
    const std::size_t four = in_malloc(4 * sizeof(nodes::reference));
    switch (part) {
    case scene_part::quads: return quad_size(levels, in_malloc(sizeof(nodes::quad_group)), leaf, 1);
    case scene_part::groups: return quad_size(levels, group + four, leaf, 2);
    case scene_part::shared: {
        const std::size_t inner = in_malloc(sizeof(nodes::shared_group) + shared_counts);
        const std::size_t children = in_malloc(4 * sizeof(nodes::shared_reference));
        return quad_size(levels, inner + children, in_malloc(sizeof(nodes::shared_node) + shared_counts), 2);
    }
    case scene_part::with_data: {
        constexpr std::size_t average_data = in_malloc(64 + 448 / 2);
        return quad_size(levels > 1 ? levels - 1 : levels, in_malloc(sizeof(nodes::quad_group)), leaf, 1,
                         attached + average_data + average_name, 3);
    }
    case scene_part::threads: return times(scene_threads, size_of_part(options, scene_part::quads));
    case scene_part::threads_with_data: return times(scene_threads, size_of_part(options, scene_part::with_data));
    default: return model_size(options);
    }
}

std::size_t scene_memory_limit() {
    const std::size_t available = available_memory_bytes();
    return available - available / 8;
}

bool fits_with_more(const parameters& options, std::size_t part, std::size_t more_per_block, std::size_t times) {
    const scene_size needed = size_of_part(options, part);
    return (needed.bytes + needed.blocks * more_per_block) * times <= scene_memory_limit();
}

std::string refuse_beyond(const parameters& options, std::uint64_t parts, std::size_t limit) {
    for (std::size_t part = 0; part < scene_experiment.parts.size(); ++part) {
        if (!chosen(parts, part)) continue;
        const scene_size needed = size_of_part(options, part);
        if (needed.bytes <= limit) continue;
        const std::string_view option = part == scene_part::model ? "grid" : "levels";
        const std::int64_t most = largest_that_fits(options, part, option, limit);
        return fmt::format("--{} {} does not fit in memory: part \"{}\" has {} nodes and needs {:.1f} GiB, of {:.1f} "
                           "GiB that can be used. The largest that fits is --{} {}",
                           option, options[option], name_of(part), needed.nodes, gib(needed.bytes), gib(limit), option,
                           most);
    }
    return {};
}

std::string refuse_scene(const parameters& options, std::uint64_t parts) {
    return refuse_beyond(options, parts, scene_memory_limit());
}

}
