// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The handles experiment: its description and its parts.

#include <cstddef>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment handles_experiment;

inline constexpr std::size_t handles_one_thread = 0, handles_two_threads = 1;

[[nodiscard]] std::span<const contestant> tenure_in_handles();
[[nodiscard]] std::span<const contestant> references_in_handles();

}
