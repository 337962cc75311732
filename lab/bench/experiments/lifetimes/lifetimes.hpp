// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The lifetimes experiment: its description and its parts.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment lifetimes_experiment;

/// The parts, by their index in the experiment. A contestant lists its parts as bits.
namespace lifetimes_part {
inline constexpr std::size_t one_thread = 0;
inline constexpr std::size_t overflow = 1;
inline constexpr std::size_t overflow_small = 2;
inline constexpr std::size_t two_threads = 3;
constexpr std::uint64_t bit(std::size_t part) { return std::uint64_t{1} << part; }
}

[[nodiscard]] std::span<const contestant> mallocs_in_lifetimes();
[[nodiscard]] std::span<const contestant> references_in_lifetimes();
[[nodiscard]] std::span<const contestant> tenure_in_lifetimes();

}
