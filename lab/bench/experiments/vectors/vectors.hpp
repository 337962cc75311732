// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The vectors experiment: its description and its parts.

#include <array>
#include <cstddef>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment vectors_experiment;

/// The parts, by their index in the experiment.
namespace vectors_part {
inline constexpr std::size_t in_memory = 0;
inline constexpr std::size_t in_cache = 1;
inline constexpr std::uint64_t both = 0b11;
}
inline constexpr std::array<part, 2> vectors_parts{{{"in memory", 1, 3}, {"in the first cache"}}};

[[nodiscard]] std::span<const contestant> tenure_in_vectors(); ///< empty when built without them
[[nodiscard]] std::span<const contestant> loops_in_vectors();

}
