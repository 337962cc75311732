// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Random sequences of operations, replayed on an allocator and a model, and shortened when the two disagree.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace support {

/// One operation. The replay interprets the numbers so that every subset of the steps is a valid sequence.
struct step {
    std::uint64_t kind = 0;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

using stream = std::vector<step>;
/// Runs a sequence on a fresh allocator. Returns   the error, or an empty text.
using replay = std::function<std::string(std::span<const step>)>;

inline stream random_stream(std::uint64_t seed, std::size_t count) {
    random numbers(seed);
    stream steps(count);
    for (step& each : steps) each = {numbers.next(), numbers.next(), numbers.next()};
    return steps;
}

/// Removes ever smaller runs of steps while the rest still fails.
inline stream shrink(stream failing, const replay& run) {
    std::size_t replays_left = 2000;
    for (std::size_t length = failing.size() / 2; length != 0; length /= 2) {
        for (std::size_t begin = 0; begin + length <= failing.size() && replays_left != 0; --replays_left) {
            stream shorter = failing;
            const auto first = shorter.begin() + static_cast<std::ptrdiff_t>(begin);
            shorter.erase(first, first + static_cast<std::ptrdiff_t>(length));
            if (run(shorter).empty())
                begin += length;
            else
                failing = std::move(shorter);
        }
    }
    return failing;
}

/// Runs one random sequence of `count` steps. On failure, reports the seed and a short sequence that fails.
inline void expect_agreement(const char* model, std::size_t count, const replay& run) {
    const std::uint64_t seed = new_seed();
    std::cout << model << ": seed " << seed << std::endl; // flushed, because the replay may end the process
    const stream steps = random_stream(seed, count);
    const std::string fault = run(steps);
    if (fault.empty()) return;
    const stream few = shrink(steps, run);
    std::string said = std::string(model) + ", TENURE_TEST_SEED=" + std::to_string(seed) + ": " + fault + "\n" +
                       std::to_string(few.size()) + " steps are enough: " + run(few);
    for (const step& each : few) {
        said += "\n  {" + std::to_string(each.kind) + "u, " + std::to_string(each.first) + "u, " +
                std::to_string(each.second) + "u},";
    }
    ADD_FAILURE() << said;
}

}
