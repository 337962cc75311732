// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The cost of reading the counter in this process.

#include "bench/harness/tick_clock.hpp"

#include <algorithm>
#include <array>

namespace tenure::lab {

std::uint64_t tick_cost() {
    static const std::uint64_t cost = [] {
        static std::array<std::uint64_t, 2001> reads; // static, so that a worker's stack stays small
        for (std::uint64_t& read : reads) {
            const std::uint64_t begin = ticks_before();
            read = ticks_after() - begin;
        }
        std::nth_element(reads.begin(), reads.begin() + reads.size() / 2, reads.end());
        return reads[reads.size() / 2];
    }();
    return cost;
}

}
