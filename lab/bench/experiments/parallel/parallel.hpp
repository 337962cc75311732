// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parallel experiment: its description, its parts and its peers.

#include <cstddef>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment parallel_experiment;

inline constexpr std::size_t parallel_two_fields = 0, parallel_five_fields = 1, parallel_counted = 2;

[[nodiscard]] std::span<const contestant> threads_in_parallel();  ///< with threads of our own
[[nodiscard]] std::span<const contestant> for_each_in_parallel(); ///< with std::for_each, which runs on TBB

[[nodiscard]] library_peer c_library_peer();
[[nodiscard]] library_peer to_chars_peer();
[[nodiscard]] library_peer fmt_peer();
[[nodiscard]] library_peer tbb_peer();

}
