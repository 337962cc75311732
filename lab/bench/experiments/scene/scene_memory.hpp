// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How much memory a part of scene needs, so that a tree that does not fit is refused instead of ending the machine.

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

/// What a part allocates.
struct scene_size {
    std::size_t nodes;
    std::size_t blocks; ///< allocations
    std::size_t bytes;  ///< as glibc's malloc rounds them, with its header
};
[[nodiscard]] scene_size size_of_part(const parameters& options, std::size_t part);

/// Memory that a worker may use: what the machine has available, less an eighth for the rest of the process.
[[nodiscard]] std::size_t scene_memory_limit();

/// Whether a part fits with `more_per_block` further bytes for each allocation, or with `times` the memory.
[[nodiscard]] bool fits_with_more(const parameters& options, std::size_t part, std::size_t more_per_block,
                                  std::size_t times = 1);

/// Why parts cannot be run with this much memory, as a sentence; empty when they fit.
[[nodiscard]] std::string refuse_beyond(const parameters& options, std::uint64_t parts, std::size_t limit);

/// For experiment::refuse.
[[nodiscard]] std::string refuse_scene(const parameters& options, std::uint64_t parts);

}
