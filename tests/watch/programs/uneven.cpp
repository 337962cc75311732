// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A region with one slow thread: nothing is waited for, and half of the time is lost.

#include <cstdint>
#include <thread>
#include <vector>

namespace {

__attribute__((noinline)) std::uint64_t work(std::uint64_t steps) {
    std::uint64_t value = 1;
    for (std::uint64_t step = 0; step < steps; ++step) {
        value = value * 6364136223846793005U + step;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

}

int main() {
    std::vector<std::thread> crew;
    for (int thread = 0; thread < 2; ++thread) {
        crew.emplace_back([thread] { static_cast<void>(work(thread == 0 ? 300'000'000 : 1'000'000)); });
    }
    for (std::thread& each : crew) each.join();
}
