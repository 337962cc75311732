// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The command line: subcommands, help, and answers to unknown words.

namespace tenure::lab {

/// Exit codes of the commands. Every --help lists them.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int row_failed = 1;
inline constexpr int bad_usage = 2;
inline constexpr int not_written = 3;
inline constexpr int failed = 70; ///< the command itself failed: out of memory or a bug
inline constexpr int interrupted = 130;
}

inline constexpr const char* exit_codes_help = "Exit codes: 0 ok; 1 a row failed, or a named experiment was left "
                                               "out; 2 invalid command line; 3 a file or standard output could not "
                                               "be written; 70 the command itself failed; 130 interrupted.";

/// For commands that measure nothing.
inline constexpr const char* plain_exit_codes_help =
    "Exit codes: 0 ok; 2 invalid command line; 3 standard output could not be written; 70 the command itself failed.";

[[nodiscard]] int run_command_line(int argc, char** argv);

}
