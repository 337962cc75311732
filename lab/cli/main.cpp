// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The `tenure` command. In a worker process of the bench, the worker takes over before anything else starts.

#include <fcntl.h>
#include <unistd.h>

#include "bench/experiments/registry.hpp"
#include "bench/harness/worker/worker.hpp"
#include "cli/command_line.hpp"
#include "cli/last_resort.hpp"
#include "observe/replay/run/replay_experiment.hpp"

namespace {

/// Opens the first three descriptors if the program was started with them closed, so that a pipe does not get their
/// numbers.
void keep_standard_files_open() {
    for (int file = ::open("/dev/null", O_RDWR); file >= 0; file = ::open("/dev/null", O_RDWR)) {
        if (file <= STDERR_FILENO) continue;
        ::close(file);
        return;
    }
}

}

int main(int argc, char** argv) {
    return tenure::lab::run_and_tell([&] {
        const bool replays = tenure::lab::is_replay_worker(argc, argv);
        if (const auto code = tenure::lab::run_if_worker(
                argc, argv, replays ? tenure::lab::replay_experiments() : tenure::lab::experiments()))
            return *code;
        keep_standard_files_open();
        return tenure::lab::run_command_line(argc, argv);
    });
}
