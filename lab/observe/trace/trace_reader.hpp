// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads the file of a recording (trace_format.hpp), raw or packed. Of a damaged file what is valid is read, and
/// trace::damage says what is not.

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/trace/limits/trace_limits.hpp"
#include "observe/trace/part/older_blocks.hpp"
#include "observe/trace/trace.hpp"
#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

constexpr std::uint64_t max_trace_file_bytes = std::uint64_t{64} << 30; ///< larger files are refused

/// The trace of chunks that were found. `older`: what other chunks, before them, have left (trace_merger.hpp).
[[nodiscard]] trace merge_trace(const trace_chunks& file, const trace_limits& limits, older_blocks* older = nullptr);

/// Cost      memory: 56 bytes for each event, and the call stacks.
[[nodiscard]] trace read_trace(std::string_view bytes, const trace_limits& limits = {});

/// Reads a file. `error` then begins with its name.
[[nodiscard]] trace load_trace(const std::string& path, const trace_limits& limits = {});

}
