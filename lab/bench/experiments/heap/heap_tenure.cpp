// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The process's heap through its C++ calls, in heap, large, fragmentation and latency. Preloaded as a malloc, it is a
/// row of `heap_malloc.cpp`, like every other malloc.

#include <array>
#include <string_view>

#include <tenure/base/tag.hpp>
#include <tenure/heap/budget.hpp>
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

/// All threads allocate under one owner tag.
class tagged_heap : public process_heap {
public:
    void* allocate(std::size_t bytes) {
        if (current_tag() != owner_) [[unlikely]]
            open_scope();
        return process_heap::allocate(bytes);
    }

protected:
    [[nodiscard]] tag owner() const { return owner_; }

private:
    /// Until the thread ends.
    [[gnu::noinline]] void open_scope() const { static thread_local const tag_scope scope(owner_); }

    tag owner_{"one of all threads"};
};

/// The tag has a budget, which is far away: what is measured is how each refill asks.
class budgeted_heap : public tagged_heap {
public:
    budgeted_heap() {
        constexpr std::size_t limit_bytes = std::size_t{1} << 40;
        set_budget(owner(), {limit_bytes, limit_bytes / 2, nullptr, nullptr});
    }
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

/// Two threads with one tag, and with one budget.
constexpr contestant tagged_row(std::string_view name, std::string_view note, void (*run)(const task&)) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::reference,
            .type = "tenure::heap::process()",
            .note = note,
            .parts = heap_part::bit(heap_part::mixed_threads),
            .run = run};
}

constexpr std::array<contestant, 3> in_heap{
    row(heap_part::all, run_heap<process_heap>),
    tagged_row("tenure heap (one tag)", "the typed calls; all threads allocate under one owner tag",
               run_heap<tagged_heap>),
    tagged_row("tenure heap (one budget)", "the same; the tag has a budget, which is not reached",
               run_heap<budgeted_heap>)};
constexpr std::array<contestant, 1> in_large{row(large_part::all, run_large<process_heap>)};
constexpr std::array<contestant, 1> in_fragmentation{row(fragmentation_part::all, run_fragmentation<process_heap>)};
constexpr std::array<contestant, 1> in_latency{row(latency_part::all, run_latency<process_heap>)};

}

std::span<const contestant> tenure_in_heap() { return in_heap; }

std::span<const contestant> tenure_in_large() { return in_large; }

std::span<const contestant> tenure_in_fragmentation() { return in_fragmentation; }

std::span<const contestant> tenure_in_latency() { return in_latency; }

}
