// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: are vector maths faster than the loop that a compiler generates from plain C++?
///
/// Unfair would be: a loop compiled for a different machine than its users have; numbers that need less work in one
/// row.
/// It does not show: several threads, and buffers that were never touched before.

#include "bench/experiments/vectors/vectors.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"count", 4'000'000, 10'000'000, 1000, 1'000'000'000, "elements of \"in memory\", each of 1 to 8 bytes"},
    {"cached-count", 2048, 2048, 16, 1'000'000, "elements of \"in the first cache\""},
    {"repeats", 2, 7, 1, 1000, "times that each operation is measured; the median counts"},
}};

constexpr std::array<std::string_view, 5> unfair{
    "Two loops are compiled like a program for every machine: g++ without -march, at -O2 and at -O3. Vector maths "
    "detect the machine's features at run time and use vectors of at most 32 bytes.",
    "Two more have the flags of our vector maths: -O3 -ffp-contract=off -fopenmp-simd -fno-math-errno "
    "-fno-trapping-math, on x86-64 -mprefer-vector-width=256; one of them also has -march=x86-64-v3, which has "
    "vectors of 32 bytes. It is left out when the processor is older.",
    "\"add, in place\" reads and writes every element once and does next to nothing in between; the additional time "
    "of other operations is their arithmetic.",
    "A loop adds floating-point numbers one after the other, because another order gives another result. Vector "
    "maths use their own order, which is documented and the same on every machine.",
    "Minimum: the loop uses `a < b ? a : b`, which does not define the result for NaN and the sign of zeros; vector "
    "maths do.",
};

constexpr std::array<contestant_source, 2> sources{tenure_in_vectors, loops_in_vectors};

// Each operation once, with a type that it is commonly used with.
constexpr std::array<primary_figure, 13> primary{{{"fill", "double, *"},
                                                  {"add, in place", "double, *"},
                                                  {"multiply two", "double, *"},
                                                  {"square root", "double, *"},
                                                  {"sum", "double, *"},
                                                  {"dot product", "double, *"},
                                                  {"multiply, in place", "int32, *"},
                                                  {"divide", "int32, *"},
                                                  {"minimum", "int32, *"},
                                                  {"to float", "int32, *"},
                                                  {"compare", "uint8, *"},
                                                  {"count", "uint8, *"},
                                                  {"find", "uint8, *"}}};

constexpr experiment described{
    .name = "vectors",
    .question = "How long do vector maths take per element, and how long does a plain loop?",
    .unfair = unfair,
    .baseline = "loop at -O2",
    .options = options,
    .parts = vectors_parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench vectors --count 10000000",
};

}

const experiment vectors_experiment = described;

}
