// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What reading the counter costs in this process.

#include "harness/tick_clock.hpp"

#include <array>

namespace tenure::lab {

std::uint64_t tick_cost() {
    static std::uint64_t const cost = [] {
        static std::array<std::uint64_t, 2001> reads; // static: a worker's stack stays as small as it is
        for (std::uint64_t& read : reads) {
            std::uint64_t const begin = ticks_before();
            read = ticks_after() - begin;
        }
        std::nth_element(reads.begin(), reads.begin() + reads.size() / 2, reads.end());
        return reads[reads.size() / 2];
    }();
    return cost;
}

}
