// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Computes percentiles from the times of single calls.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

struct percentile {
    std::string_view name;
    double share; ///< of the calls that take at most this long
};

inline constexpr std::array<percentile, 7> percentiles{{
    {"p50", 0.5},
    {"p90", 0.9},
    {"p99", 0.99},
    {"p99.9", 0.999},
    {"p99.99", 0.9999},
    {"p99.999", 0.99999},
    {"worst", 1},
}};

/// The index of a percentile among `count` sorted values. Requires  `count` is not 0.
[[nodiscard]] std::size_t place_of(const percentile& wanted, std::size_t count);

/// Reports all percentiles. Reorders `ticks`.
void tell_percentiles(const task& asked, std::span<std::uint32_t> ticks, double ns_per_tick, std::string_view variant);

}
