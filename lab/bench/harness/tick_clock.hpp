// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The processor's time-stamp counter, for single calls, which are too short for the system's clock.

#include <algorithm>
#include <cstdint>

#include <tenure/platform/clock.hpp>

namespace tenure::lab {

/// Reads the counter after all earlier instructions are done and before later ones begin.
inline std::uint64_t ticks_before() {
    __builtin_ia32_lfence();
    const std::uint64_t now = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return now;
}

inline std::uint64_t ticks_after() {
    unsigned processor = 0;
    const std::uint64_t now = __builtin_ia32_rdtscp(&processor);
    __builtin_ia32_lfence();
    return now;
}

/// The ticks that an empty measurement reads: the median of 2001, taken once per process.
[[nodiscard]] std::uint64_t tick_cost();

/// The smallest difference between two readings, in ticks: what takes less cannot be told from nothing. Taken once per
/// process.
[[nodiscard]] std::uint64_t tick_step();

/// The length of a tick, measured with the system's clock. It becomes more precise with the time between construction
/// and the query.
class tick_length {
public:
    [[nodiscard]] double ns() const {
        const double spent = static_cast<double>(platform::monotonic_ns() - begin_ns_);
        return spent / static_cast<double>(std::max<std::uint64_t>(ticks_after() - begin_ticks_, 1));
    }

private:
    std::uint64_t begin_ns_ = platform::monotonic_ns();
    std::uint64_t begin_ticks_ = ticks_before();
};

}
