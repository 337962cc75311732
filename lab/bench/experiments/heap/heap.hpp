// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The heap experiment: its description and its parts.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment heap_experiment;

/// The parts, by their index in the experiment. A contestant lists its parts as bits.
namespace heap_part {
inline constexpr std::size_t one_thread = 0;
inline constexpr std::size_t threads = 1;
inline constexpr std::size_t producer_consumer = 2;
inline constexpr std::size_t refill = 3;
inline constexpr std::size_t mixed_threads = 4;
inline constexpr std::uint64_t all = 0b11111;
constexpr std::uint64_t bit(std::size_t part) { return std::uint64_t{1} << part; }
}

[[nodiscard]] std::span<const contestant> mallocs_in_heap();
[[nodiscard]] std::span<const contestant> references_in_heap();
[[nodiscard]] std::span<const contestant> shared_in_heap();
[[nodiscard]] std::span<const contestant> tenure_in_heap();

}
