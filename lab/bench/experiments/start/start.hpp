// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The start experiment: its description and its parts.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment start_experiment;

namespace start_part {
inline constexpr std::uint64_t all = 0b11;
inline constexpr std::size_t script = 1;
}

[[nodiscard]] std::span<const contestant> mallocs_in_start();

}
