// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The command line: its subcommands, its help, its answers to what it does not know.

namespace tenure::lab {

/// How a command ends. Every --help says it.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int row_failed = 1;
inline constexpr int bad_usage = 2;
inline constexpr int not_written = 3;
inline constexpr int failed = 70; ///< the command itself, for want of memory or by a mistake of its own
inline constexpr int interrupted = 130;
}

inline constexpr const char* exit_codes_help = "Exit codes: 0 ok; 1 some row failed, or an experiment that was "
                                               "named was left out; 2 the command line was wrong; 3 a "
                                               "file or standard output could not be written; 70 the "
                                               "command itself failed; 130 interrupted.";

/// Of the commands that measure nothing.
inline constexpr const char* plain_exit_codes_help =
    "Exit codes: 0 ok; 2 the command line was wrong; 3 standard output could not be written; 70 the command itself "
    "failed.";

[[nodiscard]] int run_command_line(int argc, char** argv);

}
