// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// malloc and free of the process in the lifetimes experiment: one row per malloc.

#include <array>
#include <cstddef>
#include <cstdlib>

#include <tenure/base/align.hpp>

#include "bench/experiments/lifetimes/lifetimes_workload.hpp"
#include "bench/experiments/shared/exchange.hpp"

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

template<class Malloc>
class exchanged {
public:
    explicit exchanged(const task& asked)
        : calls_(asked), shape_{asked.options.size("bytes"), asked.options.size("align")} {}
    void* allocate() { return calls_.allocate(shape_.bytes, shape_.alignment); }
    void deallocate(void* block) { calls_.deallocate(block, shape_.bytes); }
    void end_batch(std::size_t) {}
    [[nodiscard]] exchanged_shape shape() const { return shape_; }

private:
    Malloc calls_;
    exchanged_shape shape_;
};

template<class Malloc>
void run_with(const task& asked) {
    if (asked.part != lifetimes_part::two_threads) return one_thread<Malloc>(asked);
    exchanged<Malloc> shared(asked);
    measure_exchange(asked, "two threads", shared.shape(), shared, shared);
}

void run(const task& asked) {
    const bool over_aligned = asked.options.size("align") > alignof(std::max_align_t);
    over_aligned ? run_with<aligned_malloc>(asked) : run_with<plain_malloc>(asked);
}

constexpr std::array<contestant, 1> all{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = lifetimes_part::bit(lifetimes_part::one_thread) | lifetimes_part::bit(lifetimes_part::two_threads),
     .run = run},
}};

}

std::span<const contestant> mallocs_in_lifetimes() { return all; }

}
