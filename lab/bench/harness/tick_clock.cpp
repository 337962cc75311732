// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The cost of reading the counter in this process, and its step.

#include "bench/harness/tick_clock.hpp"

#include <algorithm>
#include <array>

namespace tenure::lab {

namespace {

struct empty_measurements {
    std::uint64_t cost, step;
};

const empty_measurements& measure_nothing() {
    static const empty_measurements found = [] {
        static std::array<std::uint64_t, 2001> reads; // static, so that a worker's stack stays small
        for (std::uint64_t& read : reads) {
            const std::uint64_t begin = ticks_before();
            read = ticks_after() - begin;
        }
        std::sort(reads.begin(), reads.end());
        std::uint64_t step = reads.back();
        for (std::size_t i = 1; i < reads.size(); ++i)
            if (reads[i] != reads[i - 1]) step = std::min(step, reads[i] - reads[i - 1]);
        return empty_measurements{reads[reads.size() / 2], std::max<std::uint64_t>(step, 1)};
    }();
    return found;
}

}

std::uint64_t tick_cost() { return measure_nothing().cost; }
std::uint64_t tick_step() { return measure_nothing().step; }

}
