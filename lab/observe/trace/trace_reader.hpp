// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads the file of a recording (trace_format.hpp), raw or packed. Of a damaged file what is valid is read, and
/// trace::damage says what is not.

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

constexpr std::uint64_t max_trace_file_bytes = std::uint64_t{64} << 30; ///< larger files are refused

struct trace_limits {
    std::uint64_t events = std::uint64_t{1} << 32; ///< later ones are left out, and trace::damage says so
};

/// Cost      memory: 56 bytes for each event.
[[nodiscard]] trace read_trace(std::string_view bytes, const trace_limits& limits = {});

/// Reads a file. `error` then begins with its name.
[[nodiscard]] trace load_trace(const std::string& path, const trace_limits& limits = {});

/// The number of the process whose raw file this is; zero if it has noted its end, or the file is none.
[[nodiscard]] std::uint32_t process_of_trace(const std::string& path);

}
