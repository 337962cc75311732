// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a trace says of a program in figures.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

struct trace_bucket {
    std::uint64_t below = 0; ///< of the bucket's values; zero: the rest
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0; ///< of these blocks, as they were allocated
};

struct trace_figures {
    std::uint64_t duration_ns = 0; ///< until the last event
    std::uint64_t allocations = 0, deallocations = 0, resizes = 0, frames = 0, marks = 0;
    std::uint64_t allocated_bytes = 0;             ///< by allocations, and by resizes what they added
    std::uint64_t peak_bytes = 0, peak_blocks = 0; ///< in use at the same time; each for itself
    std::uint64_t peak_time_ns = 0;                ///< of peak_bytes
    std::uint64_t live_bytes = 0, live_blocks = 0; ///< at the end
    std::uint64_t cross_thread = 0;                ///< blocks that another thread freed than had allocated
    std::array<std::uint64_t, 5> by_family{};      ///< allocations, in the order of trace_family
    std::uint64_t watched_blocks = 0;              ///< different blocks that had watchpoints
    std::uint64_t touched_blocks = 0;              ///< of these, those that were accessed then
    std::uint64_t watched_ns = 0;                  ///< of all windows
    std::uint64_t accesses = 0;                    ///< that were counted
    std::vector<trace_bucket> sizes;     ///< bytes: each bucket twice the one before; without empty ones at the ends
    std::vector<trace_bucket> times;     ///< ns from allocation to free, of freed blocks
    std::vector<trace_bucket> distances; ///< allocations of all threads in between, of freed blocks
};

/// Cost      O(events); memory: 24 bytes for each block.
[[nodiscard]] trace_figures figures_of(const trace& of);

}
