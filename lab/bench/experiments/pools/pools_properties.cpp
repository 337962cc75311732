// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The property table. The article compares platforms, threads and ease of use as well as speed. Ease of use is stated
/// in two facts: what a program writes to make and free one object of its own type, with the number of statements, and
/// what a free takes besides.

#include "bench/experiments/pools/pools.hpp"

namespace tenure::lab {

std::vector<property_table> pool_properties() {
    property_table made;
    made.title = "Properties besides speed";
    made.columns = {"scheme",         "you write (statements)", "a free takes",     "platforms",
                    "threads",        "free in any order",      "drop all at once", "memory returned",
                    "largest object", "overhead per object"};
    made.rows = {
        {"glibc malloc", "new, delete (2)", "the pointer", "Linux", "any", "yes", "no",
         "from the end of the heap; malloc_trim", "any", "8 B, in steps of 16, at least 24 usable"},
        {"jemalloc", "new, delete (2)", "the pointer", "Linux, BSD, macOS, Windows", "any", "yes",
         "per arena, by its own calls", "with time", "any", "none; four sizes per doubling"},
        {"mimalloc", "new, delete (2)", "the pointer", "Linux, BSD, macOS, Windows", "any", "yes",
         "per heap, by its own calls", "with time", "any", "none; eight sizes per doubling"},
        {"tcmalloc", "new, delete (2)", "the pointer", "Linux, macOS, Windows", "any", "yes", "no",
         "in part, with time", "any", "none; sizes at most 12.5 % apart"},
        {"TBB malloc", "new, delete (2)", "the pointer", "Linux, macOS, Windows", "any", "yes",
         "per pool, by its own calls", "in part", "any", "none; rounded to a size"},
        {"boost::pool", "a pool per size; malloc and placement new; the destructor and free (5)",
         "the pool and the pointer", "any", "one", "yes", "yes, and returns the memory", "all or nothing",
         "any, one per pool", "none; rounded to pointers"},
        {"boost::object_pool", "a pool per type; construct; destroy (3)", "the pool and the pointer", "any", "one",
         "yes, O(objects) each", "yes, by its destructor", "at its end", "any, one per pool",
         "none; rounded to pointers"},
        {"boost::fast_pool_allocator",
         "an allocator per type; allocate and placement new; the destructor and deallocate (5)",
         "the type and the pointer", "any", "any, one mutex", "yes", "yes, and gives it back", "all or nothing",
         "any, one pool per size", "none; rounded to pointers"},
        {"Loki::SmallObject", "a base class; new, delete (3)", "the pointer", "any", "one, or any with one mutex",
         "yes, O(chunks) each", "no", "by the chunk of 4 KiB", "256 B", "none; rounded to 4 B"},
        {"pmr unsynchronized pool", "a resource and an allocator; new_object, delete_object (4)",
         "the resource, the type and the pointer", "any", "one", "yes", "yes, and returns the memory", "all or nothing",
         "4 MiB, above that upstream", "about a bit; rounded to powers of two"},
        {"pmr synchronized pool", "a resource and an allocator; new_object, delete_object (4)",
         "the resource, the type and the pointer", "any", "any", "yes", "yes, and returns the memory", "all or nothing",
         "4 MiB, above that upstream", "about a bit; rounded to powers of two"},
        {"pmr monotonic", "a resource and an allocator; new_object (3)", "nothing is freed singly", "any", "one",
         "does nothing", "yes, and returns the memory", "all or nothing", "any", "none"},
        {"HPHA (measured as rebuilt by us)", "custom_new, custom_delete (2)", "the pointer",
         "Windows in the article, all in O3DE", "any, one mutex per size", "yes", "no", "on request", "any",
         "none up to 256 B (512 B in O3DE), 16 B above"},
        {"tenure pool, block_pool", "a pool per type; construct; destroy (3); with block_pool as boost::pool (5)",
         "the pool and the pointer", "Linux on x86-64", "one", "yes", "yes, keeping pages", "trim, page by page",
         "256 MiB, one per pool", "one bit and a 64th of that"},
        {"tenure shared_pool", "a pool per type; construct; destroy (3)", "the pool and the pointer", "Linux on x86-64",
         "any", "yes", "yes, keeping pages", "trim, page by page", "256 MiB, one per pool",
         "one bit and a 64th of that"},
        {"tenure small_object", "a base class; new, delete (3)", "the pointer", "Linux on x86-64", "any", "yes", "no",
         "trim, page by page", "any, from 32 KiB as malloc", "one bit; sizes at most a quarter apart"},
        {"tenure make", "make, destroy (2)", "the type and the pointer", "Linux on x86-64", "any", "yes", "no",
         "with time; trim, page by page", "any", "none; sizes at most a quarter apart"},
    };
    return {made};
}

}
