// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// malloc, realloc and free of the process in heap, large, fragmentation and latency: one row per malloc.

#include <array>
#include <cstdlib>
#include <string_view>

#include "bench/experiments/fragmentation/fragmentation_workload.hpp"
#include "bench/experiments/heap/heap_workload.hpp"
#include "bench/experiments/large/large_workload.hpp"
#include "bench/experiments/latency/latency_workload.hpp"
#include "bench/harness/mallocs/malloc_calls.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"

namespace tenure::lab {

namespace {

struct process_malloc {
    void* allocate(std::size_t bytes) { return std::malloc(bytes); }
    void deallocate(void* block, std::size_t) { std::free(block); }
    void* reallocate(void* block, std::size_t bytes) { return std::realloc(block, bytes); }
    bool trim() {
        if (process_malloc_calls().trim == nullptr) return false;
        process_malloc_calls().trim();
        return true;
    }
};

// What returning memory in the background costs: the drop-in once more, without its background thread.
constexpr std::array<std::string_view, 1> no_background{"TENURE_HEAP_BACKGROUND=0"};

constexpr std::array<contestant, 2> in_heap{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = heap_part::all,
     .run = run_heap<process_malloc>},
    {.name = "tenure without background thread",
     .how = route::process_malloc,
     .role = contestant_role::reference,
     .peer = own_malloc_name,
     .note = "TENURE_HEAP_BACKGROUND=0: the difference to the row above is what returning memory costs",
     .parts = heap_part::all,
     .environment = no_background,
     .run = run_heap<process_malloc>},
}};
constexpr std::array<contestant, 1> in_large{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = large_part::all,
     .run = run_large<process_malloc>},
}};
constexpr std::array<contestant, 1> in_fragmentation{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = fragmentation_part::all,
     .run = run_fragmentation<process_malloc>},
}};
constexpr std::array<contestant, 1> in_latency{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = latency_part::all,
     .run = run_latency<process_malloc>},
}};

}

std::span<const contestant> mallocs_in_heap() { return in_heap; }

std::span<const contestant> mallocs_in_large() { return in_large; }

std::span<const contestant> mallocs_in_fragmentation() { return in_fragmentation; }

std::span<const contestant> mallocs_in_latency() { return in_latency; }

}
