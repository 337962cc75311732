// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what do one allocation and one free of a small block cost, and how far apart are the blocks?
///
/// Unfair would be: to compare the first touch of memory with memory in the cache, so cold and warm are separate; to
/// compare an inlined call with one through the dynamic linker, which a preloaded malloc needs and which costs about a
/// nanosecond; to leave out the reset that Temp and arenas need, so it is timed with the frees.
/// It does not show: mixed sizes, long lives, the effect of the distances on a program that walks the blocks.

#include "bench/experiments/lifetimes/lifetimes.hpp"

#include <array>

#include "bench/experiments/library_peers/library_peers.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 7> options{{
    {"count", 1000, 1000, 2, 10'000'000, "allocations per batch"},
    {"bytes", 4, 4, 4, 65536, "bytes of each allocation"},
    {"align", 4, 4, 1, 4096, "alignment of each allocation in bytes, a power of two", option_shape::power_of_two},
    {"budget", 4 << 20, 4 << 20, 4096, std::int64_t{1} << 32, "bytes of Temp's budget; Unity's default is 4 MiB"},
    {"small-budget", 16384, 16384, 4096, std::int64_t{1} << 32,
     "bytes of a second budget, for the overflow only; the article's Temp overflows at about 16 KiB"},
    {"batches", 1000, 4000, 3, 1'000'000,
     "batches per process; the first is the cold one, the median of the rest warm"},
    {"exchange-groups", 12, 48, 1, 100'000, "timed groups of 8 batches in each of 7 turns of the two-thread part"},
}};

constexpr std::array<part, 4> parts{{
    {"one thread", 1},
    {"overflow", 1},
    {"overflow, small budget", 1},
    {"two threads", 2},
}};

constexpr std::array<std::string_view, 9> unfair{
    "A preloaded malloc is called through the dynamic linker, as programs call it; pools and arenas are inlined "
    "from headers. This is how each is used, and it makes a difference of about a nanosecond.",
    "Whole loops are timed: all allocations of a batch, each with a store of four bytes and of its pointer; then "
    "all frees, each with a load of its pointer, and the end of the batch (Temp's reset, TempJob's next frame, an "
    "arena's release). The cost of reading the clock is measured in each process and subtracted once per loop.",
    "Cold is the first batch of the process and includes the first touch of its pages; warm is the median of the "
    "later batches. What a contestant does when the program starts is in no figure: a preloaded malloc is set up and "
    "has served the program; Temp has reserved the main thread's range and touched two of its pages, which takes about "
    "12 us. Frees follow the order of the allocations, as in the article; a stack freed in reverse order "
    "would do more work and need no reset.",
    "Between the loops, untimed, every block is read back; in the cold batch it is filled whole and read back "
    "whole. After all figures have been taken, one more batch is also checked for alignment and overlaps; with two "
    "threads, the last batches of both are checked together.",
    "A bump, a stack or a monotonic resource cannot reuse a single freed block: its free does little or nothing, "
    "and memory is reused only after the end of the batch.",
    "Two threads: both allocate 1000 blocks, free every other one themselves and hand the rest to the other thread, "
    "which frees them. The figure is per block: one allocation, one free, half a hand-over. The hand-over alone is "
    "the same traffic with existing blocks. The difference of the two is the allocator's share, though a wait for "
    "the other thread may hide some of it; a negative difference is shown unchanged and has no ratio. Two virtual "
    "CPUs may be two cores or two threads of one, and the host may change that at any moment, so short turns "
    "alternate between the hand-over alone and with the allocator.",
    "The overflow's own allocation is the only one timed singly; the cost of the clock is subtracted, and the "
    "result is accurate to some 10 ns.",
    "The C library's malloc is faster in a process that never had a second thread; the one-thread figures come from "
    "such a process.",
    "It does not show mixed sizes, long lives, or the effect of the distances on a program that walks the blocks.",
};

constexpr std::array<contestant_source, 5> sources{
    references_in_lifetimes, tenure_in_lifetimes, mallocs_in_lifetimes, boost_pool_in_lifetimes, std_pmr_in_lifetimes,
};

// The article's quotients.
constexpr std::array<named_quotient, 2> quotients{{
    {"Persistent/TempJob", "tenure Persistent", "tenure TempJob"},
    {"TempJob/Temp", "tenure TempJob", "tenure Temp"},
}};

constexpr std::array<primary_figure, 5> primary{
    {{"alloc", "warm"}, {"free", "warm"}, {"alloc", "cold"}, {"free", "cold"}, {"with the hand-over"}}};

constexpr experiment described{
    .name = "lifetimes",
    .question = "What do one allocation and one free of a small block cost, cold and warm, and how far is it from "
                "the previous block?",
    .unfair = unfair,
    .baseline = "trivial bump",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = quotients,
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench lifetimes --count 5000 --bytes 16 --only \"tenure Temp,jemalloc\"",
};

}

const experiment lifetimes_experiment = described;

}
