// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: how long does a single call take, typically and at worst?
///
/// Unfair would be: to average, which hides one call of a millisecond among a million; to let the first touch of pages
/// fall into the allocator's calls, so blocks are written between them; to attribute the worst call of a process to the
/// allocator, because the machine interrupts every process: the reference shows for how long.
/// It does not show: the program's view, which includes page faults; throughput (heap).

#include "bench/experiments/latency/latency.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"samples", 250'000, 5'000'000, 1000, 200'000'000, "timed calls of each kind, over all threads"},
    {"live", 10'000, 100'000, 100, 10'000'000, "live blocks at the crest of a wave, per thread"},
    {"remote-percent", 10, 10, 1, 100,
     "with two threads: share of the frees, in percent, that are of the other's "
     "blocks"},
}};

constexpr std::array<part, 2> parts{{
    {"one thread", 1},
    {"two threads", 2},
}};

constexpr std::array<std::string_view, 8> unfair{
    "Every call is timed by itself with the processor's counter, which waits until the call is done; the reading of "
    "an empty measurement is subtracted. The result is accurate to a few nanoseconds, and longer than in a loop, "
    "where calls overlap.",
    "Blocks have 16 to 512 bytes, 9 in a hundred up to 8 KiB, one up to 256 KiB. Each is written whole after the "
    "call, untimed: the first touch of its pages is not in the allocator's time unless the allocator touches them "
    "itself.",
    "A block is read just before it is freed, untimed.",
    "The live set falls to three quarters and rises again, in waves; random blocks are freed.",
    "A percentile is of all calls of a process: of a million calls ten are slower than p99.999. The table shows the "
    "median over the rounds, also for \"worst\": the median of the worst calls, not the worst of them.",
    "The machine interrupts every process, at any call: \"a free list per size\" does next to nothing in a call, so "
    "its tail is the machine's. A tail that is not longer says nothing about an allocator, and a worst call of "
    "milliseconds in every row means that other programs ran meanwhile.",
    "Two threads: both do the same at the same time, and the calls of both are counted; by default, a tenth of the "
    "frees are of the other's blocks.",
    "Memory is the process's private pages above what it had before the first block.",
};

constexpr std::array<contestant_source, 3> sources{tenure_in_latency, mallocs_in_latency, references_in_latency};

// Of allocations and of frees, with one thread and with two.
// Memory is primary wherever it is measured, in every variant: times alone would hide the benefit of retaining memory.
constexpr std::array<primary_figure, 6> primary{
    {{"p50"}, {"p99"}, {"p99.9"}, {"peak"}, {"after free"}, {"after trim"}}};

constexpr experiment described{
    .name = "latency",
    .question = "How long does a single allocation or free take, from the typical to the worst?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench latency --samples 10000000 --parts \"one thread\"",
};

}

const experiment latency_experiment = described;

}
