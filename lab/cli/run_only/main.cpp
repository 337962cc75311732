// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The `tenure` command with `run` and `options` alone, for targets that lack the libraries of the others. A worker is
/// asked which malloc it has, and measures nothing.

#include "bench/harness/worker/worker.hpp"
#include "cli/command_line.hpp"
#include "cli/last_resort.hpp"

int main(int argc, char** argv) {
    return tenure::lab::run_and_tell([&] {
        if (const auto code = tenure::lab::run_if_worker(argc, argv, {})) return *code;
        return tenure::lab::run_command_line(argc, argv);
    });
}
