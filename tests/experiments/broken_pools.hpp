// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Pools that hand out what overlaps or is not aligned, and one that does not: none of them destroys what the timed
/// loops store, so only the check at the end of a part can tell them apart.

#include <cstddef>
#include <new>
#include <span>

#include "bench/experiments/pools/pools_population.hpp"
#include "bench/harness/experiment.hpp"
#include "bench/harness/page_array.hpp"

namespace broken {

using namespace tenure::lab;

/// Objects `Stride` bytes apart; of what was freed every other one is handed out again `Aside` bytes further on.
template<std::size_t Bytes, std::size_t Stride, std::size_t Aside>
class pool_of_cells {
public:
    using object = test_object<Bytes>;

    explicit pool_of_cells(std::size_t max_alive) : memory_((max_alive + 2) * Stride + Bytes), freed_(max_alive) {}

    object* construct(int number) {
        const std::size_t cell = freed_count_ > 0 ? freed_[--freed_count_] : next_++;
        const std::size_t aside = cell < destroyed_ && cell % 2 == 0 ? Aside : 0;
        return new (memory_.data() + cell * Stride + aside) object(number);
    }
    void destroy(object* made) {
        const auto offset = static_cast<std::size_t>(reinterpret_cast<char*>(made) - memory_.data());
        freed_[freed_count_++] = offset / Stride;
        destroyed_ = next_;
    }

private:
    page_array<char> memory_;
    page_array<std::size_t> freed_;
    std::size_t freed_count_ = 0, next_ = 0;
    std::size_t destroyed_ = 0; ///< cells below this are handed out again
};

template<std::size_t Bytes>
struct sound : pool_of_cells<Bytes, Bytes, 0> {
    using pool_of_cells<Bytes, Bytes, 0>::pool_of_cells;
};

/// The last four bytes of each object are the first four of the next, where its number stands: a number is stored when
/// an object is made, and nobody writes to the end of one.
template<std::size_t Bytes>
struct too_narrow : pool_of_cells<Bytes, Bytes - 4, 0> {
    using pool_of_cells<Bytes, Bytes - 4, 0>::pool_of_cells;
};

/// Sound until something was freed.
template<std::size_t Bytes>
struct askew_after_frees : pool_of_cells<Bytes, Bytes, 4> {
    using pool_of_cells<Bytes, Bytes, 4>::pool_of_cells;
};

/// Promises more than it keeps: its cells lie at multiples of 8.
template<std::size_t Bytes>
struct under_aligned : pool_of_cells<Bytes, Bytes + 8 - Bytes % 16, 0> {
    static constexpr std::size_t alignment = 16;
    using pool_of_cells<Bytes, Bytes + 8 - Bytes % 16, 0>::pool_of_cells;
};

/// Says of none of its blocks that it is its own.
template<std::size_t Bytes>
struct forgetful : sound<Bytes> {
    using sound<Bytes>::sound;
    static constexpr std::string_view query = "forgetful::owns";
    [[nodiscard]] bool owns(const void*) const { return false; }
};

/// The parts of the pools experiment, with these as its contestants: for the main() of the tests, and for the tests.
[[nodiscard]] const experiment& pools();

}
