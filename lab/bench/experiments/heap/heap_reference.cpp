// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A free list per size and thread: the limit for allocators that find a list by size, in heap and in latency.

#include <array>
#include <string_view>

#include "bench/experiments/heap/heap_workload.hpp"
#include "bench/experiments/latency/latency_workload.hpp"
#include "bench/experiments/shared/size_lists.hpp"
#include "bench/experiments/shared/type_name.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view name = "a free list per size";

using lists = size_lists<range_pages::untouched>;
using touched_lists = size_lists<range_pages::touched>;

constexpr std::array<contestant, 1> in_heap{{
    {.name = name,
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<lists>(),
     .note = "the limit of last-in-first-out reuse: per-thread lists, found by the size passed to free; it checks "
             "nothing, returns nothing, and blocks stay with the thread that frees them",
     .parts =
         heap_part::bit(heap_part::one_thread) | heap_part::bit(heap_part::threads) | heap_part::bit(heap_part::refill),
     .run = run_heap<lists>},
}};

constexpr std::array<contestant, 1> in_latency{{
    {.name = name,
     .how = route::inlined,
     .role = contestant_role::reference,
     .type = type_name<touched_lists>(),
     .note = "a limit: a call is a few instructions and one access to the block, whose memory was touched beforehand, "
             "so its tail shows the machine's interruptions",
     .parts = latency_part::all,
     .run = run_latency<touched_lists>},
}};

}

std::span<const contestant> references_in_heap() { return in_heap; }

std::span<const contestant> references_in_latency() { return in_latency; }

}
