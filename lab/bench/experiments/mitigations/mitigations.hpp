// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The mitigations experiment: its description and its parts.

#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment mitigations_experiment;

namespace mitigations_part {
inline constexpr std::uint64_t all = 0b11;
inline constexpr std::size_t two_threads = 1;
}

[[nodiscard]] std::span<const contestant> mallocs_in_mitigations();

}
