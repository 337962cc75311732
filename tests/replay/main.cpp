// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The tests start this executable again as a worker of a replay.

#include <gtest/gtest.h>

#include "bench/harness/worker/worker.hpp"
#include "observe/replay/run/replay_experiment.hpp"

int main(int argc, char** argv) {
    if (const auto code = tenure::lab::run_if_worker(argc, argv, tenure::lab::replay_experiments())) return *code;
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
