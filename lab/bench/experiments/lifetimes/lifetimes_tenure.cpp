// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Temp, TempJob and Persistent in the lifetimes experiment.

#include <array>
#include <string_view>

#include <tenure/base/options.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "bench/experiments/lifetimes/lifetimes_overflow.hpp"
#include "bench/experiments/lifetimes/lifetimes_workload.hpp"
#include "bench/experiments/shared/exchange.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view temp_query = "temp::owns", temp_job_query = "temp_job::owns", heap_query = "heap::owns";

class temp_memory {
public:
    explicit temp_memory(const task& asked) {
        set_option(option::temp_budget_bytes, static_cast<std::uint64_t>(asked.options["budget"]));
    }
    void* allocate(std::size_t bytes, std::size_t alignment) {
        return tenure::allocate(bytes, lifetime::temp, alignment);
    }
    void deallocate(void* block, std::size_t bytes) { tenure::deallocate(block, bytes, lifetime::temp); }
    void end_batch() { reset_temp(); }
    static constexpr std::string_view query = temp_query;
    [[nodiscard]] bool owns(const void* block) const { return temp::owns(block); }
};

class temp_job_memory {
public:
    explicit temp_job_memory(const task&) {}
    void* allocate(std::size_t bytes, std::size_t alignment) {
        return tenure::allocate(bytes, lifetime::temp_job, alignment);
    }
    void deallocate(void* block, std::size_t bytes) { tenure::deallocate(block, bytes, lifetime::temp_job); }
    void end_batch() { next_frame(); }
    static constexpr std::string_view query = temp_job_query;
    [[nodiscard]] bool owns(const void* block) const { return temp_job::owns(block); }
};

class persistent_memory {
public:
    explicit persistent_memory(const task&) {}
    void* allocate(std::size_t bytes, std::size_t alignment) {
        return tenure::allocate(bytes, lifetime::persistent, alignment);
    }
    void deallocate(void* block, std::size_t bytes) { tenure::deallocate(block, bytes, lifetime::persistent); }
    void end_batch() {}
    static constexpr std::string_view query = heap_query;
    [[nodiscard]] bool owns(const void* block) const { return heap::process().owns(block); }
};

class exchanged_persistent {
public:
    exchanged_persistent(std::size_t bytes, std::size_t alignment) : bytes_(bytes), alignment_(alignment) {}
    void* allocate() { return tenure::allocate(bytes_, lifetime::persistent, alignment_); }
    void deallocate(void* block) { tenure::deallocate(block, bytes_, lifetime::persistent); }
    void end_batch(std::size_t) {}
    static constexpr std::string_view query = heap_query;
    [[nodiscard]] bool owns(const void* block) const { return heap::process().owns(block); }

private:
    std::size_t bytes_, alignment_;
};

/// A batch of the exchange is a frame, which one of the threads ends.
class exchanged_temp_job {
public:
    exchanged_temp_job(std::size_t bytes, std::size_t alignment) : bytes_(bytes), alignment_(alignment) {}
    void* allocate() { return tenure::allocate(bytes_, lifetime::temp_job, alignment_); }
    void deallocate(void* block) { tenure::deallocate(block, bytes_, lifetime::temp_job); }
    void end_batch(std::size_t thread) {
        if (thread == 0) next_frame();
    }
    static constexpr std::string_view query = temp_job_query;
    [[nodiscard]] bool owns(const void* block) const { return temp_job::owns(block); }

private:
    std::size_t bytes_, alignment_;
};

void run_temp(const task& asked) {
    if (asked.part == lifetimes_part::one_thread) return one_thread<temp_memory>(asked);
    const bool small_budget = asked.part == lifetimes_part::overflow_small;
    measure_overflow(asked, asked.options.size(small_budget ? "small-budget" : "budget"));
}

void run_temp_job(const task& asked) {
    if (asked.part == lifetimes_part::one_thread) return one_thread<temp_job_memory>(asked);
    const exchanged_shape shape{asked.options.size("bytes"), asked.options.size("align")};
    exchanged_temp_job shared(shape.bytes, shape.alignment);
    measure_exchange(asked, "two threads", shape, shared, shared);
}

void run_persistent(const task& asked) {
    if (asked.part == lifetimes_part::one_thread) return one_thread<persistent_memory>(asked);
    const exchanged_shape shape{asked.options.size("bytes"), asked.options.size("align")};
    exchanged_persistent shared(shape.bytes, shape.alignment);
    measure_exchange(asked, "two threads", shape, shared, shared);
}

using lifetimes_part::bit;

constexpr std::array<contestant, 3> all{{
    {.name = "tenure Temp",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = "tenure::allocate(bytes, lifetime::temp, alignment)",
     .note = "freed with its size, in the order of the allocations, then reset_temp(), timed with the frees",
     .parts = bit(lifetimes_part::one_thread) | bit(lifetimes_part::overflow) | bit(lifetimes_part::overflow_small),
     .run = run_temp},
    {.name = "tenure TempJob",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = "tenure::allocate(bytes, lifetime::temp_job, alignment)",
     .note = "a batch is a frame: next_frame() is timed with the frees",
     .parts = bit(lifetimes_part::one_thread) | bit(lifetimes_part::two_threads),
     .run = run_temp_job},
    {.name = "tenure Persistent",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "inlined",
     .type = "tenure::allocate(bytes, lifetime::persistent, alignment)",
     .note = "the process heap; freed one by one, with no work at the end of the batch",
     .parts = bit(lifetimes_part::one_thread) | bit(lifetimes_part::two_threads),
     .run = run_persistent},
}};

}

std::span<const contestant> tenure_in_lifetimes() { return all; }

}
