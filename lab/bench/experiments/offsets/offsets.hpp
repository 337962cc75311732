// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The offsets experiment: its description and its parts.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment offsets_experiment;

/// Number of live ranges in each part.
inline constexpr std::array<std::size_t, 3> offsets_live{10'000, 100'000, 1'000'000};

inline constexpr std::uint64_t offsets_all_parts = 0b111;

[[nodiscard]] std::span<const contestant> tenure_in_offsets();
[[nodiscard]] std::span<const contestant> given_in_offsets(); ///< from --against
[[nodiscard]] std::span<const contestant> references_in_offsets();

}
