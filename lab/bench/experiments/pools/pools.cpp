// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what do objects of one size cost, made and destroyed in pairs, all at once, in any order, by two threads?
///
/// Unfair would be: to destroy in the order that suits one scheme best, so three orders are measured, and refilling is
/// measured after random frees, where lists in the order of the frees become slow; to measure 50 000 objects, which fit
/// in a cache, as if they were millions: --full has 5 000 000.
/// It does not show: constructors that do more than store an int, and programs that use other memory in between.

#include "bench/experiments/pools/pools.hpp"

#include "bench/experiments/library_peers/library_peers.hpp"
#include "bench/experiments/shared/exchange.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 5> options{{
    {"pairs", 200'000, 500'000, 1, 1'000'000'000, "rounds of five pairs in suite 1; the article has 500 000"},
    {"objects", 50'000, 5'000'000, 1000, 100'000'000, "live objects in suite 2; the article has 50 000"},
    {"repeats", 7, 3, 1, 10'000,
     "warm repetitions of each order within a process; their median counts. After a second they stop, at 3, 5, 7 ..."},
    {"destroys", 200, 200, 1, 1000, "objects that are destroyed singly: few, because boost::object_pool searches"},
    {"exchange-groups", 12, 48, 1, 100'000, "timed groups of 8 batches in each of 7 turns of the two-thread part"},
}};

constexpr std::array<part, 13> parts{{
    {"pairs, 8 B"},
    {"pairs, 64 B"},
    {"pairs, 280 B"},
    {"all, 8 B"},
    {"all, 64 B"},
    {"all, 280 B"},
    {"drop, 8 B"},
    {"drop, 64 B"},
    {"drop, 280 B"},
    {"destroy one, 8 B"},
    {"destroy one, 64 B"},
    {"destroy one, 280 B"},
    {"two threads, 64 B", 2},
}};
static_assert(suite_of_part(parts.size() - 1) == pool_suite::two_threads);

constexpr std::array<std::string_view, 13> unfair{
    "Mallocs are called as in the article, by operator new and the sized operator delete, through the dynamic "
    "linker; pools are inlined from headers, std::pmr through its virtual call. This is how each is used.",
    "A constructor stores an int and touches nothing else of the object, as in the article, so an object of 280 "
    "bytes is not written whole.",
    "In suite 2 every object is read back before it is destroyed, untimed, so all contestants start with the same "
    "memory in the caches. Random order: the list of pointers is shuffled beforehand, so that the loop itself reads "
    "it in order.",
    "Cold is the first construction in the process, with the first touch of its pages. The rest is warm: the median "
    "of some repetitions; a slow scheme makes fewer, at least 3, when they take more than a second, and its row "
    "says so.",
    "50 000 objects of 8 and 64 bytes fit in a cache of some megabytes; with --full there are 5 000 000, which do not.",
    "Dropping all at once differs between schemes: ours, the bump and mimalloc's heap keep pages for the next "
    "objects. Boost and std::pmr return them and pay for the first touch at the next construction, which is listed "
    "beside the drop.",
    "Loki forwards objects above 256 bytes to operator new without notice, so it takes no part at 280 bytes. Its "
    "free searches its chunks: with more than 200 000 objects it is left out of suite 2 and shown as left out, "
    "because one worker would take more than ten minutes in random order, and without that order its memory and "
    "refills would not be comparable.",
    "boost::object_pool keeps its free list in address order: a destroy walks it, so a loop over all objects is "
    "quadratic, except in reverse order, as a reader of the article found. In suite 2 it has at most 50 000 objects of "
    "8 and 64 bytes and 20 000 of 280. If that is fewer than the others have, its figures stand in columns of their "
    "own, which say the number.",
    "\"Destroy one\" destroys a few objects, in the order of construction, when half of them are gone: the average "
    "cost of one in the article's loop over all of them. This is done with at most 50 000 objects.",
    "HPHA is not in any package. The rows \"HPHA design (rebuilt)\" are our own code after published descriptions of "
    "it, so they show what the design costs and not what the original does. They are references and have no rank.",
    "Memory is the process's private pages above what it had before the first object. Trim is each scheme's call "
    "for returning memory; for Boost and std::pmr that is a drop, which is possible only with nothing alive.",
    "After all figures of a process have been taken, objects are made anew, half of them after random frees, "
    "written whole, compared, and checked for alignment and overlaps; with two threads, the last batches of both "
    "are checked together. No time and no memory figure includes that.",
    "Two threads: the ranked figure includes the hand-over. The difference to the hand-over alone may be negative, "
    "when the allocator's work hides a wait for the other thread; it is shown unchanged and has no ratio then.",
};

constexpr std::array<contestant_source, 7> sources{
    tenure_in_pools,  mallocs_in_pools, boost_pool_in_pools, loki_in_pools,
    std_pmr_in_pools, hpha_in_pools,    references_in_pools,
};

constexpr std::array<std::string_view, 1> unranked{exchange_difference};

// The smallest objects and those of a cache line; dropping all beside freeing each.
// Objects of 8 B and of 64 B in every order; operations on all objects, and memory, at every size.
constexpr std::array<primary_figure, 15> primary{{{"pair"},
                                                  {"alloc", "8 B, *"},
                                                  {"free", "8 B, *"},
                                                  {"refill", "8 B, *"},
                                                  {"alloc", "64 B, *"},
                                                  {"free", "64 B, *"},
                                                  {"refill", "64 B, *"},
                                                  {"drop"},
                                                  {"alloc after it"},
                                                  {"destroy one"},
                                                  {"with the hand-over"},
                                                  {"all alive"},
                                                  {"peak"},
                                                  {"after free"},
                                                  {"after trim"}}};

constexpr experiment described{
    .name = "pools",
    .question = "What do objects of one size cost when they are made and destroyed in pairs, all at once, in any "
                "order and by two threads, and how much memory do they use?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = pool_properties,
    .quotients = {},
    .ranking_rule = "Geometric mean of the ratios to glibc malloc over the times that each contestant has; for two "
                    "threads, the figure with the hand-over. References are left out, because they are not choices, "
                    "as is a contestant that lacks more than half of the figures.",
    .unranked = unranked,
    .primary = primary,
    .example = "tenure bench pools --objects 1000000 --against jemalloc",
};

}

const experiment pools_experiment = described;

}
