// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes a file (trace_format.hpp) of a trace in memory, and parts of a trace.

#include <cstdint>
#include <string>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// The packed file. Reading it gives an equal trace, but for the order of what different threads did at the same time,
/// for times, which are rounded down to 1024 ns, and for the frees of unknown blocks.
[[nodiscard]] std::string write_trace(const trace& of);

/// What happens from one time on, until before another. Blocks that are in use when it begins are allocated there, by
/// the threads that have allocated them, with the sizes that they have then: trace::older_blocks.
[[nodiscard]] trace cut_trace(trace of, std::uint64_t from_ns, std::uint64_t to_ns);

}
