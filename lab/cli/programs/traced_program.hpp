// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs a program with libtenure_record.so and packs what it has recorded.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tenure::lab {

struct trace_request {
    std::string file;               ///< of the program's own trace; others begin with its name
    std::uint32_t stacks = 0;       ///< most frames of a stack; zero: events have none
    bool has_free_stacks = true;    ///< with stacks: frees have them too
    std::uint64_t sample_bytes = 0; ///< zero: all blocks
    bool samples_accesses = false;  ///< watches some blocks: observe/access
    std::function<void()> at_end{}; ///< called when the program has ended, before its files are packed
};

/// Whose trace it is.
enum class trace_of : std::uint8_t {
    program,       ///< the one that was started
    after_exec,    ///< one that replaced it in its process
    other_process, ///< one that it started
};

struct kept_trace {
    std::string path;
    trace_of whose = trace_of::program;
    std::string program; ///< its name, without its folder; empty: not known
    std::uint64_t bytes = 0;
};

/// What a run has left.
struct traced_program {
    std::vector<kept_trace> traces; ///< the largest first; empty: there is none
    int code = 0;                   ///< the program's own; what to exit with if that is 0 and a trace is missing
};

/// Runs a program. Errors are reported.
[[nodiscard]] traced_program trace_program(const std::vector<std::string>& words, const trace_request& request);

}
