// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// From the times of single calls to percentiles.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/experiment.hpp"

namespace tenure::lab {

struct percentile {
    std::string_view name;
    double share; ///< of the calls, which take at most so long
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

/// The place of a percentile among `count` values in order, counted from 0. Requires  `count` is not 0.
[[nodiscard]] std::size_t place_of(const percentile& wanted, std::size_t count);

/// Tells all of them. `ticks` are put in another order.
void tell_percentiles(const task& asked, std::span<std::uint32_t> ticks, double ns_per_tick, std::string_view variant);

}
