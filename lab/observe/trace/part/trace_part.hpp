// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Opens a part of a trace's file, without reading the whole file into memory.

#include <cstdint>
#include <string>

#include "observe/trace/trace.hpp"
#include "observe/trace/trace_reader.hpp"

namespace tenure::lab {

/// What cut_trace() makes of the whole trace, but for call stacks and marks that the part does not have, and for the
/// order of what different threads did at the same time. Chunks after the part are skipped: only their headers are
/// read. Chunks before the part are read one by one, and only the blocks that are in use when it begins stay in memory.
///
/// A damaged file is read whole, and then cut. `error` begins with the file's name.
///
/// Memory    of the part and the chunks that it begins and ends in, of the blocks in use and the call stacks before it,
///           and 72 bytes for each chunk of the file. If the blocks and stacks before the part exceed `limits`, the
///           file is read whole, as far as it fits, and then cut.
[[nodiscard]] trace load_part(const std::string& path, std::uint64_t from_ns, std::uint64_t to_ns,
                              const trace_limits& limits = {});

}
