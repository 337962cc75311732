// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The fragmentation experiment: its description and its part.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment fragmentation_experiment;

namespace fragmentation_part {
inline constexpr std::uint64_t all = 0b11;
inline constexpr std::size_t idle = 1;
}

[[nodiscard]] std::span<const contestant> mallocs_in_fragmentation();
[[nodiscard]] std::span<const contestant> tenure_in_fragmentation();

}
