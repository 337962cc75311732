// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: are vector maths faster than the loop that a compiler makes of plain C++?
///
/// Unfair would be: a loop compiled for another machine than its users have; numbers for which one has less to do.
/// It does not show: several threads, and buffers that were never touched before.

#include "experiments/vectors.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"count", 4'000'000, 10'000'000, 1000, 1'000'000'000, "elements of \"in memory\", each of 1 to 8 bytes"},
    {"cached-count", 2048, 2048, 16, 1'000'000, "elements of \"in the first cache\""},
    {"repeats", 2, 7, 1, 1000, "times that each operation is measured; the median counts"},
}};

constexpr std::array<part, 2> parts{{{"in memory", 1, 3}, {"in the first cache"}}};

constexpr std::array<std::string_view, 4> unfair{
    "The loops are what stands in a program that was built for every machine: g++ without -march, at -O2 and at -O3. "
    "Vector maths find out what the machine has when they run.",
    "\"add, in place\" reads and writes every element once and does next to nothing in between: what other operations "
    "take beyond it is their arithmetic.",
    "A loop adds up floating-point numbers one after the other, because another order has another result. Vector "
    "maths have an order of their own, which is stated and the same on every machine.",
    "Minimum: the loop takes `a < b ? a : b`, which says nothing of NaN and of the sign of zeros; vector maths do.",
};

constexpr std::array<contestant_source, 3> sources{tenure_in_vectors, loops_in_vectors, better_loops_in_vectors};

constexpr experiment described{
    .name = "vectors",
    .question = "What do vector maths take for an element, and what does a plain loop?",
    .unfair = unfair,
    .baseline = "loop at -O2",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .example = "tenure bench vectors --count 10000000",
};

}

const experiment vectors_experiment = described;

}
