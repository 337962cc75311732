// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The limits experiment: its description and its parts.

#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment limits_experiment;

namespace limits_part {
inline constexpr std::uint64_t all = 0b111;
inline constexpr std::size_t small_first = 0, large_first = 1, least = 2;
}

[[nodiscard]] std::span<const contestant> mallocs_in_limits();

}
