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

constexpr std::array<std::string_view, 5> unfair{
    "Two loops are what stands in a program that was built for every machine: g++ without -march, at -O2 and at -O3. "
    "Vector maths find out what the machine has when they run, and use vectors of 32 bytes at most.",
    "Two more have the flags that vector maths are compiled with: -O3 -ffp-contract=off -fopenmp-simd -fno-math-errno "
    "-fno-trapping-math, on x86-64 -mprefer-vector-width=256; one of them also -march=x86-64-v3, which has vectors of "
    "32 bytes. It is left out where the processor is older.",
    "\"add, in place\" reads and writes every element once and does next to nothing in between: what other operations "
    "take beyond it is their arithmetic.",
    "A loop adds up floating-point numbers one after the other, because another order has another result. Vector "
    "maths have an order of their own, which is stated and the same on every machine.",
    "Minimum: the loop takes `a < b ? a : b`, which says nothing of NaN and of the sign of zeros; vector maths do.",
};

constexpr std::array<contestant_source, 2> sources{tenure_in_vectors, loops_in_vectors};

// Each operation once, by a type that it is used with.
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
    .question = "What do vector maths take for an element, and what does a plain loop?",
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
