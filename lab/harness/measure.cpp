// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What reading the clock costs in this process.

#include "harness/measure.hpp"

#include <array>

namespace tenure::lab {

double clock_cost_ns() {
    static double const cost = [] {
        static std::array<double, 2001> reads; // static: a worker's stack stays as small as it is
        for (double& read : reads) {
            std::uint64_t const begin = platform::monotonic_ns();
            read = static_cast<double>(platform::monotonic_ns() - begin);
        }
        return median_of(reads);
    }();
    return cost;
}

}
