// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The large experiment: its description and its parts.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment large_experiment;

/// The parts, by their index in the experiment. A contestant lists its parts as bits.
namespace large_part {
inline constexpr std::size_t one_at_a_time = 0;
inline constexpr std::size_t many = 1;
inline constexpr std::size_t growth = 2;
inline constexpr std::size_t again_and_again = 3;
inline constexpr std::size_t pattern = 4;
inline constexpr std::size_t pattern_and_wait = 5;
inline constexpr std::uint64_t all = 0b111111;
constexpr std::uint64_t bit(std::size_t part) { return std::uint64_t{1} << part; }
}

[[nodiscard]] std::span<const contestant> mallocs_in_large();
[[nodiscard]] std::span<const contestant> references_in_large();
[[nodiscard]] std::span<const contestant> tenure_in_large();

}
