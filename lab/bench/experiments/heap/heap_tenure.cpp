// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The process's heap through its C++ calls, in heap, large, fragmentation and latency. Preloaded as a malloc, it is a
/// row of `heap_malloc.cpp`, like every other malloc.

#include <array>
#include <string_view>

#include <tenure/heap/heap.hpp>

#include "bench/experiments/fragmentation/fragmentation_workload.hpp"
#include "bench/experiments/heap/heap_workload.hpp"
#include "bench/experiments/large/large_workload.hpp"
#include "bench/experiments/latency/latency_workload.hpp"

namespace tenure::lab {

namespace {

class process_heap {
public:
    void* allocate(std::size_t bytes) { return heap_.allocate(bytes); }
    void deallocate(void* block, std::size_t bytes) { heap_.deallocate(block, bytes); }
    void* reallocate(void* block, std::size_t bytes) { return heap_.reallocate(block, bytes); }
    bool trim() {
        heap_.trim();
        return true;
    }
    static constexpr std::string_view query = "heap::owns";
    [[nodiscard]] bool owns(const void* block) const { return heap_.owns(block); }

private:
    heap& heap_ = heap::process();
};

constexpr contestant row(std::uint64_t parts, void (*run)(const task&)) {
    return {.name = "tenure heap (inline)",
            .how = route::inlined,
            .role = contestant_role::ours,
            .kind = "inlined",
            .type = "tenure::heap::process()",
            .note = "the typed calls, inlined from the header; frees pass the size",
            .parts = parts,
            .run = run};
}

constexpr std::array<contestant, 1> in_heap{row(heap_part::all, run_heap<process_heap>)};
constexpr std::array<contestant, 1> in_large{row(large_part::all, run_large<process_heap>)};
constexpr std::array<contestant, 1> in_fragmentation{row(fragmentation_part::all, run_fragmentation<process_heap>)};
constexpr std::array<contestant, 1> in_latency{row(latency_part::all, run_latency<process_heap>)};

}

std::span<const contestant> tenure_in_heap() { return in_heap; }

std::span<const contestant> tenure_in_large() { return in_large; }

std::span<const contestant> tenure_in_fragmentation() { return in_fragmentation; }

std::span<const contestant> tenure_in_latency() { return in_latency; }

}
