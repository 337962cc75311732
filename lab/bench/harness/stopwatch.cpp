// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The cost of reading the clock in this process.

#include "bench/harness/stopwatch.hpp"

#include <array>

namespace tenure::lab {

double clock_cost_ns() {
    static const double cost = [] {
        static std::array<double, 2001> reads; // static, so that a worker's stack stays small
        for (double& read : reads) {
            const std::uint64_t begin = platform::monotonic_ns();
            read = static_cast<double>(platform::monotonic_ns() - begin);
        }
        return median_of(reads);
    }();
    return cost;
}

}
