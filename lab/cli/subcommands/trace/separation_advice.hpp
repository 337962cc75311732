// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// `tenure advise -o`: finds call sites that should have heap pages of their own, and writes the advice file.

#include <cstdint>
#include <string>
#include <vector>

#include "observe/replay/separation/separation_replay.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

enum class report_stream : std::uint8_t { out, err };

struct separation_request {
    std::string file;                ///< to write
    std::string trace_file;          ///< that `recorded` was read from
    std::string json;                ///< to write; may be empty
    std::vector<std::string> checks; ///< files of other traces
    std::string program;             ///< what was recorded, in words
    report_stream report_to = report_stream::out;
    separation_replay_settings replay;
};

/// Why the files of --check cannot be used, in a sentence; empty when they can. Reads each of them whole.
/// `trace_file`: that the advice is learned from; empty: it is not recorded yet.
[[nodiscard]] std::string why_no_checks(const std::vector<std::string>& checks, const std::string& trace_file = {});

/// Requires  why_no_checks() accepts the files. `recorded`: its events are released. Says what is wrong on standard
/// error. Returns   an exit code.
[[nodiscard]] int advise_separation(trace& recorded, const separation_request& request);

}
