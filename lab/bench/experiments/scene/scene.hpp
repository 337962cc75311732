// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The scene experiment: its description and its parts.

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment scene_experiment;

/// The parts, by their index in the experiment. A contestant lists its parts as bits.
namespace scene_part {
inline constexpr std::size_t quads = 0;
inline constexpr std::size_t groups = 1;
inline constexpr std::size_t shared = 2;
inline constexpr std::size_t with_data = 3;
inline constexpr std::size_t model = 4; ///< from a file
inline constexpr std::size_t threads = 5;
inline constexpr std::size_t threads_with_data = 6;
inline constexpr std::uint64_t of_one_thread = 0b11111;
inline constexpr std::uint64_t all = 0b1111111;
}

[[nodiscard]] library_peer openscenegraph_peer();

[[nodiscard]] std::span<const contestant> mallocs_in_scene();
[[nodiscard]] std::span<const contestant> openscenegraph_in_scene();
[[nodiscard]] std::span<const contestant> rebuilt_in_scene();
[[nodiscard]] std::span<const contestant> references_in_scene();
[[nodiscard]] std::span<const contestant> tenure_in_scene();

}
