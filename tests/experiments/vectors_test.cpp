// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The vectors experiment has a figure of its own for each operation, type and part, and loops with every set of flags.

#include "bench/experiments/vectors/vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "bench/experiments/vectors/loops/vectors_calls.hpp"
#include "experiments/kept_recorder.hpp"

namespace {

using namespace tenure::lab;

parameters tiny_vectors() {
    parameters options(vectors_experiment.options);
    options.set("count", 1000);
    options.set("cached-count", 200);
    options.set("repeats", 1);
    return options;
}

bool can_run(const contestant& who, const parameters& options) {
    return who.left_out == nullptr || who.left_out(options, vectors_part::in_cache).empty();
}

TEST(vectors, figures_of_memory_and_of_the_cache_have_names_of_their_own) {
    const parameters options = tiny_vectors();
    for (const contestant& who : vectors_experiment.contestants()) {
        if (!can_run(who, options)) continue;
        std::set<std::string> names;
        std::size_t figures = 0;
        for (std::size_t part = 0; part < vectors_experiment.parts.size(); ++part) {
            kept_recorder kept;
            who.run({options, 1, part, kept});
            EXPECT_EQ(kept.failure, "") << who.name;
            figures += kept.values.size();
            for (const auto& [name, value] : kept.values) names.insert(name);
        }
        EXPECT_EQ(names.size(), figures) << who.name;
        EXPECT_TRUE(names.contains("fill, uint64, in memory")) << who.name;
        EXPECT_TRUE(names.contains("fill, uint64, in the first cache")) << who.name;
    }
}

TEST(vectors, loops_for_newer_processors_are_left_out_with_a_reason_or_run) {
    const parameters options = tiny_vectors();
    const std::vector<contestant> all = vectors_experiment.contestants();
    for (const std::string_view name : {"loop with our flags for x86-64-v3", "loop at -O3 for x86-64-v3"}) {
        const auto found =
            std::find_if(all.begin(), all.end(), [name](const contestant& each) { return each.name == name; });
        ASSERT_NE(found, all.end());
        const std::string_view why = found->left_out(options, vectors_part::in_memory);
        // Asked of the system and not of the same function.
        std::ifstream file("/proc/cpuinfo");
        const std::string facts{std::istreambuf_iterator<char>(file), {}};
        const bool has_it = facts.find(" avx2 ") != std::string::npos && facts.find(" bmi2 ") != std::string::npos &&
                            facts.find(" fma ") != std::string::npos && facts.find(" movbe ") != std::string::npos;
        if (!facts.empty()) {
            EXPECT_EQ(why.empty(), has_it) << why;
        }
        if (!why.empty()) continue;
        kept_recorder kept;
        found->run({options, 1, vectors_part::in_memory, kept});
        EXPECT_EQ(kept.failure, "");
        EXPECT_TRUE(kept.values.contains("sum, double, in memory"));
    }
}

}
