// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The built `tenure` command, run as a user runs it.

#include <sys/types.h>

#include <string>

struct command_outcome {
    int code = -1;
    std::string out, err;
};

/// Runs `tenure WORDS` by the shell, in `directory`.
command_outcome run_command(const std::string& words, const std::string& directory = ".");

/// The file that run_command() runs; it lies above the folder of the tests.
std::string command_path();
