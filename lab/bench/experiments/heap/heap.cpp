// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what do blocks of 16 to 512 bytes, and of up to 16 000, cost in a general heap, with one thread and with
/// several?
///
/// Unfair would be: to free in the order of the allocations, or always the newest, which suits a stack best, so blocks
/// are replaced in random order; to let each thread free only its own blocks, so another thread frees a share, and in
/// one part everything; to measure refilling only with lists in address order, so it is measured after random frees.
/// It does not show: larger blocks (large), memory over a long run (fragmentation), single slow calls (latency).

#include "bench/experiments/heap/heap.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 10> options{{
    {"live", 10'000, 100'000, 500, 10'000'000, "live blocks per thread"},
    {"steps", 100'000, 1'000'000, 500, 100'000'000, "replacements per pass and thread, in turn"},
    {"passes", 5, 9, 1, 10'000, "passes within a process; their median counts"},
    {"threads", 2, 2, 2, 64, "threads that replace blocks at the same time"},
    {"remote-percent", 10, 10, 1, 100,
     "share of its blocks, in percent, that a thread hands to the next one, which "
     "frees them"},
    {"mixed-live", 1000, 1000, 500, 1'000'000, "live blocks per thread, of 8 to 16000 bytes"},
    {"mixed-steps", 30'000, 200'000, 500, 100'000'000, "replacements of such blocks per pass and thread"},
    {"blocks", 50'000, 1'000'000, 500, 100'000'000, "blocks that the producer hands to the consumer in each pass"},
    {"objects", 300'000, 5'000'000, 1000, 100'000'000, "blocks of 64 bytes that are freed in random order"},
    {"refills", 3, 3, 1, 1000, "times that they are freed and allocated again; the median counts"},
}};

constexpr std::array<part, 5> parts{{
    {"one thread", 1},
    {"threads", 2},
    {"producer and consumer", 2},
    {"64 B after random frees", 1},
    {"threads, larger sizes", 2},
}};

constexpr std::array<std::string_view, 10> unfair{
    "Mallocs are called by malloc and free, through the dynamic linker; our typed calls and the reference are "
    "inlined, and their frees pass the size. This is how each is used. Our drop-in is called like every other "
    "malloc; libtenure.so is called as a program that links it does, through the C interface.",
    "Sizes are uniformly random from 16 to 512 bytes; for larger sizes, from 8 to 16 000 bytes. Sizes, slots and the "
    "freeing threads are chosen beforehand "
    "and are the same for all contestants; timed loops read the list in order.",
    "Four bytes of each block are written when it is allocated and compared when it is freed, in the timed loops as "
    "well. So the loop fetches a block that was cold in the cache, whatever the allocator.",
    "In turn: a random block is freed and another allocated at once, as in a program that replaces objects; an "
    "operation is one of the two. \"alloc\" and \"free\" are batches of 500, which fill and empty a malloc's "
    "caches; a single pair never does. Before such a batch of frees, the blocks are read.",
    "Threads: an operation is one thread's, while the others do the same. The figure is the time until all blocks "
    "handed over in a pass have been freed, divided by the operations of one thread. It includes the hand-over "
    "through a queue, by default for a tenth of the blocks.",
    "Producer and consumer: clocks are read around 64 calls, so that \"alloc\" and \"free\" exclude the queue and "
    "waiting; the consumer reads a block before it frees it. \"through both\" includes everything: the slower of "
    "the two sets the pace.",
    "Two virtual CPUs may be two cores or two threads of one; the host may change that at any moment.",
    "The C library's malloc is faster in a process that never had a second thread; the one-thread figures come from "
    "such a process.",
    "Memory is the process's private pages above what it had before the first block; \"after free\" is with nothing "
    "alive, \"after trim\" is after a request to return free memory, for allocators that have such a call.",
    "After all figures of a process have been taken, all live blocks are written whole, compared, and checked for "
    "alignment and overlaps, together for all threads.",
};

constexpr std::array<contestant_source, 4> sources{tenure_in_heap, shared_in_heap, mallocs_in_heap, references_in_heap};

// Memory is primary wherever it is measured, in every variant: times alone would hide the benefit of retaining memory.
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
    .question = "What do blocks of 16 to 512 bytes cost in a general heap, with one thread, with several that free "
                "each other's blocks, and after random frees? And blocks of up to 16 000 bytes, with several?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = "Geometric mean of the ratios to glibc malloc over all times. References are not choices and "
                    "are left out.",
    .unranked = {},
    .primary = primary,
    .example = "tenure bench heap --threads 4 --remote-percent 50 --against jemalloc,mimalloc",
};

}

const experiment heap_experiment = described;

}
