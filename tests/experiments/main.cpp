// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The test program is its own worker, as the command is.

#include <gtest/gtest.h>

#include <vector>

#include "bench/experiments/registry.hpp"
#include "bench/harness/worker/worker.hpp"
#include "experiments/broken_pools.hpp"

int main(int argc, char** argv) {
    const auto known = tenure::lab::experiments();
    std::vector<tenure::lab::experiment> all(known.begin(), known.end());
    all.push_back(broken::pools());
    if (const auto code = tenure::lab::run_if_worker(argc, argv, all)) return *code;
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
