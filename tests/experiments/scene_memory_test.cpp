// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/scene/scene_memory.hpp"

#include <gtest/gtest.h>

#include "bench/experiments/scene/scene.hpp"
#include "bench/harness/machine/memory.hpp"
#include "support/units.hpp"

namespace {

using support::gibibyte;

using namespace tenure::lab;

constexpr std::uint64_t quads = std::uint64_t{1} << scene_part::quads;

parameters with_levels(std::int64_t levels) {
    parameters options(scene_experiment.options);
    options.set("levels", levels);
    return options;
}

TEST(scene_memory, a_tree_needs_its_nodes_with_the_header_of_malloc) {
    const scene_size tree = size_of_part(with_levels(2), scene_part::quads);
    EXPECT_EQ(tree.nodes, 21u);
    EXPECT_EQ(tree.blocks, 21u);
    EXPECT_EQ(tree.bytes, 16 * 32u + 5 * 64u);
    EXPECT_EQ(size_of_part(with_levels(2), scene_part::groups).blocks, 26u) << "an inner node has an array";
    EXPECT_EQ(size_of_part(with_levels(3), scene_part::with_data).nodes, 21u) << "one level less";
    EXPECT_EQ(size_of_part(with_levels(3), scene_part::with_data).blocks, 4 * 21u);
    EXPECT_EQ(size_of_part(with_levels(2), scene_part::threads).bytes, 2 * tree.bytes) << "a tree for each thread";
    EXPECT_EQ(size_of_part(with_levels(3), scene_part::threads_with_data).nodes, 2 * 21u);
}

TEST(scene_memory, what_fits_is_the_limit_and_a_refusal_says_what_would_fit) {
    EXPECT_EQ(refuse_beyond(with_levels(14), quads, 16 * gibibyte), "") << "358 million nodes";
    const std::string refused = refuse_beyond(with_levels(15), quads, 16 * gibibyte);
    for (const std::string_view words :
         {"--levels 15", "\"quads\"", "1431655765 nodes", "53.3 GiB", "16.0 GiB", "--levels 14"}) {
        EXPECT_NE(refused.find(words), std::string::npos) << words << ": " << refused;
    }
    EXPECT_NE(refuse_beyond(with_levels(14), quads | 1u << scene_part::with_data, 16 * gibibyte).find("with data"),
              std::string::npos);
}

TEST(scene_memory, the_default_fits_everywhere_and_the_highest_nowhere) {
    EXPECT_EQ(refuse_scene(parameters(scene_experiment.options), scene_part::all & ~(1u << scene_part::model)), "");
    EXPECT_NE(refuse_scene(with_levels(20), quads), "");
    EXPECT_GT(available_memory_bytes(), std::size_t{1} << 20);
}

TEST(scene_memory, who_needs_more_is_left_out_earlier) {
    EXPECT_TRUE(fits_with_more(with_levels(1), scene_part::quads, 64));
    EXPECT_FALSE(fits_with_more(with_levels(1), scene_part::quads, SIZE_MAX / 64));
    EXPECT_FALSE(fits_with_more(with_levels(1), scene_part::quads, 0, SIZE_MAX / 1024));
}

}
