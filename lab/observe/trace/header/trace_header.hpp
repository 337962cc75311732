// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The header of a trace file.

#include <string>
#include <string_view>

#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

/// Reads the header of a file from its first bytes. Returns   what is wrong, in a sentence; empty: it is valid.
[[nodiscard]] std::string parse_header(std::string_view bytes, trace_format::file_header& to);

/// Reads the header of a file. Returns   false if it cannot be read, or is none of this version.
[[nodiscard]] bool read_header(const std::string& path, trace_format::file_header& to);

}
