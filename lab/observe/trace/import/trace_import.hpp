// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads recordings of other tools as traces: heaptrack's data files, raw and interpreted, and the text that Android's
/// malloc debug writes. Of a damaged file what comes before the damage is read, and trace::damage names the line.

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/trace/trace.hpp"
#include "observe/trace/trace_reader.hpp"

namespace tenure::lab {

enum class recording_format : std::uint8_t {
    by_content, ///< the first line tells
    heaptrack,
    android,
};

/// Small files can have very many lines. Reading ends at a limit, and trace::damage says so.
struct import_limits {
    std::uint64_t events = memory_of_machine() / 256;    ///< an event and a block in use take some 200 bytes
    std::uint64_t table_bytes = memory_of_machine() / 8; ///< of call stacks, mappings and heaptrack's lists
    std::uint64_t text_bytes = std::uint64_t{64} << 30;  ///< decompressed
    std::uint32_t threads = 1 << 16;                     ///< each takes at least a page when the trace is written
};

/// `file` may be compressed with gzip or zstd. Cost      O(lines) time; memory as the limits say.
[[nodiscard]] trace import_trace(std::string_view file, recording_format format = recording_format::by_content,
                                 const import_limits& limits = {});

/// Reads a file. `error` then begins with its name. Mappings get their offsets from the files that they name.
[[nodiscard]] trace load_recording(const std::string& path, recording_format format = recording_format::by_content,
                                   const import_limits& limits = {});

}
