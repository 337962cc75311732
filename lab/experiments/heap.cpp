// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what do blocks of 16 to 512 bytes cost in a general heap, with one thread and with several?
///
/// Unfair would be: to free in the order of the allocations, or always the newest, which a stack serves best, so blocks
/// are replaced in random order; to let each thread free only its own, so a share is freed by another, and in one part
/// everything; to measure the refill only with lists in order, so it comes after random frees.
/// It does not show: larger blocks (large), memory over a long run (fragmentation), single slow calls (latency).

#include "experiments/heap.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 8> options{{
    {"live", 10'000, 100'000, 500, 10'000'000, "blocks that are alive at once, in each thread"},
    {"steps", 100'000, 1'000'000, 500, 100'000'000, "replacements, in turn, in each pass and thread"},
    {"passes", 5, 9, 1, 10'000, "passes within a process; their median counts"},
    {"threads", 2, 2, 2, 64, "threads that replace blocks at the same time"},
    {"remote-percent", 10, 10, 1, 100, "share of its blocks that a thread hands to the next one, which frees them"},
    {"blocks", 50'000, 1'000'000, 500, 100'000'000, "blocks that the producer hands to the consumer in each pass"},
    {"objects", 300'000, 5'000'000, 1000, 100'000'000, "blocks of 64 bytes that are freed in random order"},
    {"refills", 3, 3, 1, 1000, "times that they are freed and allocated again; the median counts"},
}};

constexpr std::array<part, 4> parts{{
    {"one thread", 1},
    {"threads", 2},
    {"producer and consumer", 2},
    {"64 B after random frees", 1},
}};

constexpr std::array<std::string_view, 10> unfair{
    "Mallocs are called by malloc and free, through the dynamic linker; our typed calls and the reference are "
    "inlined, and their frees are told the size. That is how each is used. Our drop-in is called as every other "
    "malloc is; libtenure.so as a program that links it calls it, by the C interface.",
    "Sizes are drawn evenly from 16 to 512 bytes. Sizes, slots and who frees are drawn beforehand and are the same "
    "for everybody; the list is read in order in the timed loops.",
    "Four bytes of each block are written when it is allocated and compared when it is freed, in the timed loops as "
    "well: a block that was cold in the cache is fetched by the loop, whoever the allocator is.",
    "In turn: a random block is freed and another allocated at once, as in a program that replaces; an operation is "
    "one of the two. \"alloc\" and \"free\" are batches of 500: the caches of a malloc are filled and emptied, which "
    "a single pair never does. There the blocks are read just before they are freed.",
    "Threads: an operation is one of one thread, while the others do the same; the figure is the time until all that "
    "was handed over in a pass has been freed, by the operations of one thread. The hand-over through a queue is in "
    "it, for a tenth of the blocks by default.",
    "Producer and consumer: clocks are read around 64 calls, so that neither the queue nor waiting is in \"alloc\" "
    "and \"free\"; the consumer has read a block before it frees it. \"through both\" has everything in it: the "
    "slower of the two sets the pace.",
    "Two virtual CPUs may be two cores or two threads of one, as the host places them from moment to moment.",
    "The C library's malloc is faster in a process that never had a second thread; the one-thread figures are of such "
    "a process.",
    "Memory is the process's private pages above what it held before the first block; \"after free\" is when nothing "
    "is alive, \"after trim\" when it was then asked to give back what it can, where it has such a call.",
    "When every figure of a process has been taken, all blocks that are alive are written whole, compared, and looked "
    "at for alignment and overlaps, those of all threads together.",
};

constexpr std::array<contestant_source, 4> sources{tenure_in_heap, shared_in_heap, mallocs_in_heap, references_in_heap};

// Memory is primary wherever it is measured, in every variant: times alone would hide what keeping memory buys.
constexpr std::array<primary_figure, 12> primary{{{"in turn*"},
                                                  {"alloc", "*one thread"},
                                                  {"free", "*one thread"},
                                                  {"alloc", "*cold"},
                                                  {"through both"},
                                                  {"alloc", "*consumer"},
                                                  {"free", "*consumer"},
                                                  {"free", "*random frees"},
                                                  {"alloc after them"},
                                                  {"peak"},
                                                  {"after free"},
                                                  {"after trim"}}};

constexpr experiment described{
    .name = "heap",
    .question = "What do blocks of 16 to 512 bytes cost in a general heap, with one thread and with several that free "
                "each other's, and after random frees?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = "Geometric mean of the ratios to glibc malloc over all times. References are no choices, "
                    "and are left out.",
    .unranked = {},
    .primary = primary,
    .example = "tenure bench heap --threads 4 --remote-percent 50 --against jemalloc,mimalloc",
};

}

const experiment heap_experiment = described;

}
