// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The property table. The article compares platforms, threads and ease of use as well as speed. This table covers
/// platforms, threads, operations and memory. It has no column for ease of use, which is a matter of opinion.

#include "bench/experiments/pools/pools.hpp"

namespace tenure::lab {

std::vector<property_table> pool_properties() {
    property_table made;
    made.title = "Properties besides speed";
    made.columns = {"scheme",           "platforms",       "threads",        "free in any order",
                    "drop all at once", "memory returned", "largest object", "overhead per object"};
    made.rows = {
        {"glibc malloc", "Linux", "any", "yes", "no", "from the end of the heap; malloc_trim", "any",
         "8 B, in steps of 16, at least 24 usable"},
        {"jemalloc", "Linux, BSD, macOS, Windows", "any", "yes", "per arena, by its own calls", "with time", "any",
         "none; four sizes per doubling"},
        {"mimalloc", "Linux, BSD, macOS, Windows", "any", "yes", "per heap, by its own calls", "with time", "any",
         "none; eight sizes per doubling"},
        {"tcmalloc", "Linux, macOS, Windows", "any", "yes", "no", "in part, with time", "any",
         "none; sizes at most 12.5 % apart"},
        {"TBB malloc", "Linux, macOS, Windows", "any", "yes", "per pool, by its own calls", "in part", "any",
         "none; rounded to a size"},
        {"boost::pool", "any", "one", "yes", "yes, and returns the memory", "all or nothing", "any, one per pool",
         "none; rounded to pointers"},
        {"boost::object_pool", "any", "one", "yes, O(objects) each", "yes, by its destructor", "at its end",
         "any, one per pool", "none; rounded to pointers"},
        {"boost::fast_pool_allocator", "any", "any, one mutex", "yes", "yes, and gives it back", "all or nothing",
         "any, one pool per size", "none; rounded to pointers"},
        {"Loki::SmallObject", "any", "one, or any with one mutex", "yes, O(chunks) each", "no", "by the chunk of 4 KiB",
         "256 B", "none; rounded to 4 B"},
        {"pmr unsynchronized pool", "any", "one", "yes", "yes, and returns the memory", "all or nothing",
         "4 MiB, above that upstream", "about a bit; rounded to powers of two"},
        {"pmr synchronized pool", "any", "any", "yes", "yes, and returns the memory", "all or nothing",
         "4 MiB, above that upstream", "about a bit; rounded to powers of two"},
        {"pmr monotonic", "any", "one", "does nothing", "yes, and returns the memory", "all or nothing", "any", "none"},
        {"HPHA (not measured)", "Windows in the article, all in O3DE", "any, one mutex per size", "yes", "no",
         "on request", "any", "none up to 512 B, 16 B above"},
        {"tenure pool, block_pool", "Linux on x86-64", "one", "yes", "yes, keeping pages", "trim, page by page",
         "256 MiB, one per pool", "one bit and a 64th of that"},
        {"tenure shared_pool", "Linux on x86-64", "any", "yes", "yes, keeping pages", "trim, page by page",
         "256 MiB, one per pool", "one bit and a 64th of that"},
        {"tenure small_object", "Linux on x86-64", "any", "yes", "no", "trim, page by page",
         "any, from 32 KiB as malloc", "one bit; sizes at most a quarter apart"},
    };
    return {made};
}

}
