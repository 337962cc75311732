// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// malloc and free of the process in the lifetimes experiment: one row per malloc.

#include <array>
#include <cstddef>
#include <cstdlib>

#include <tenure/base/align.hpp>

#include "experiments/exchange.hpp"
#include "experiments/lifetimes_workload.hpp"

namespace tenure::lab {

namespace {

class plain_malloc {
public:
    explicit plain_malloc(const task&) {}
    void* allocate(std::size_t bytes, std::size_t) { return std::malloc(bytes); }
    void deallocate(void* block, std::size_t) { std::free(block); }
    void end_batch() {}
};

class aligned_malloc {
public:
    explicit aligned_malloc(const task&) {}
    void* allocate(std::size_t bytes, std::size_t alignment) {
        return std::aligned_alloc(alignment, align_up(bytes, alignment));
    }
    void deallocate(void* block, std::size_t) { std::free(block); }
    void end_batch() {}
};

class exchanged_malloc {
public:
    explicit exchanged_malloc(std::size_t bytes) : bytes_(bytes) {}
    void* allocate() { return std::malloc(bytes_); }
    void deallocate(void* block) { std::free(block); }
    void end_batch(std::size_t) {}

private:
    std::size_t bytes_;
};

void run(const task& asked) {
    if (asked.part == lifetimes_part::two_threads) {
        exchanged_malloc shared(asked.options.size("bytes"));
        return measure_exchange(asked, "two threads", asked.options.size("bytes"), shared, shared);
    }
    bool const over_aligned = asked.options.size("align") > alignof(std::max_align_t);
    over_aligned ? one_thread<aligned_malloc>(asked) : one_thread<plain_malloc>(asked);
}

constexpr std::array<contestant, 1> all{{
    {.how = route::process_malloc,
     .parts = lifetimes_part::bit(lifetimes_part::one_thread) | lifetimes_part::bit(lifetimes_part::two_threads),
     .run = run},
}};

}

std::span<const contestant> mallocs_in_lifetimes() { return all; }

}
