// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// When each block of a trace was allocated and freed, in four clocks: events, bytes that the program allocated, time
/// and frames.

#include <cstdint>
#include <limits>
#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

inline constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// A moment of a trace.
struct trace_moment {
    std::uint64_t event = 0; ///< index in trace::events
    std::uint64_t bytes = 0; ///< allocated by the program before
    std::uint64_t time_ns = 0;
    std::uint32_t frame = 0; ///< how many frames had ended
    std::uint32_t phase = 0; ///< how many marks were passed
    std::uint32_t thread = 0;
    std::uint32_t stack = 0;
};

struct block_life {
    trace_moment born, died; ///< in use at the end: died.event is `never`
    std::uint64_t first_bytes = 0, largest_bytes = 0, last_bytes = 0;
    std::uint32_t resizes = 0;
    std::uint8_t alignment_log2 = 4;
    bool is_zeroed = false; ///< calloc
    bool crossed = false;   ///< freed or resized by another thread than the one that allocated it

    [[nodiscard]] bool is_freed() const { return died.event != never; }
};

/// Of each block, by trace_event::block. Requires  make_plan() accepts the trace.
[[nodiscard]] std::vector<block_life> lives_of(const trace& recorded);

}
