// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the segments of a loaded file lie in it. heaptrack writes only where they lie in memory.

#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Replaces each mapping's offset, which is the address of a segment in its file's own numbers, by the segment's offset
/// in the file. If the file has no such segment, it has changed since: its mappings are removed, because names from it
/// would be wrong. If there is no such file, its mappings stay as they are.
void find_file_offsets(std::vector<trace_mapping>& mappings);

}
