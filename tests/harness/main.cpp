// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The test program is its own worker, as the command is.

#include <gtest/gtest.h>

#include "bench/harness/worker/worker.hpp"
#include "harness/toy_experiment.hpp"

int main(int argc, char** argv) {
    if (const auto code = tenure::lab::run_if_worker(argc, argv, toys::experiments())) return *code;
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
