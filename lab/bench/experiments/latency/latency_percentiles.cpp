// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Computes from the highest percentile down, each among the values below the previous one.

#include "bench/experiments/latency/latency_percentiles.hpp"

#include <algorithm>
#include <cmath>

namespace tenure::lab {

std::size_t place_of(const percentile& wanted, std::size_t count) {
    const auto reached = static_cast<std::size_t>(std::ceil(wanted.share * static_cast<double>(count)));
    return std::clamp<std::size_t>(reached, 1, count) - 1;
}

void tell_percentiles(const task& asked, std::span<std::uint32_t> ticks, double ns_per_tick, std::string_view variant) {
    if (ticks.empty()) return;
    std::array<std::uint32_t, percentiles.size()> found{};
    std::span<std::uint32_t> below = ticks;
    for (std::size_t i = percentiles.size(); i-- > 0;) {
        const std::size_t place = std::min(place_of(percentiles[i], ticks.size()), below.size() - 1);
        std::nth_element(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(place), below.end());
        found[i] = below[place];
        below = below.first(place + 1);
    }
    for (std::size_t i = 0; i < percentiles.size(); ++i) {
        asked.out.value(percentiles[i].name, variant, "ns", static_cast<double>(found[i]) * ns_per_tick);
    }
}

}
