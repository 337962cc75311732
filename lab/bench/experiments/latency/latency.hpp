// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The latency experiment: its description and its parts.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment latency_experiment;

/// The parts, by their index in the experiment.
namespace latency_part {
inline constexpr std::size_t one_thread = 0;
inline constexpr std::size_t two_threads = 1;
inline constexpr std::uint64_t all = 0b11;
}

[[nodiscard]] std::span<const contestant> mallocs_in_latency();
[[nodiscard]] std::span<const contestant> references_in_latency();
[[nodiscard]] std::span<const contestant> tenure_in_latency();

}
