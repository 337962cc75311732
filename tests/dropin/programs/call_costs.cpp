// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Prints what a call of malloc or free costs, in nanoseconds, with whatever malloc is preloaded: the minimum of several
// rounds of five loops. tests/dropin/mitigation_costs runs it.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr int calls = 400'000; // pairs in each round
constexpr int rounds = 5;

void* hidden(void* block) {
    __asm__ __volatile__("" : "+r"(block) : : "memory");
    return block;
}

void one_at_a_time() {
    for (int each = 0; each < calls; ++each) std::free(hidden(std::malloc(64)));
}

/// Replaces one of a thousand blocks of 16 to 512 bytes.
void at_random() {
    constexpr std::uint32_t count = 1000;
    void* blocks[count]{};
    std::uint32_t draw = 12'345;
    for (int each = 0; each < calls; ++each) {
        draw = draw * 1'664'525 + 1'013'904'223;
        void*& block = blocks[(draw >> 8) % count];
        std::free(block);
        block = hidden(std::malloc(16 + (draw >> 12) % 497));
        *static_cast<char*>(block) = 1;
    }
    for (void* const block : blocks) std::free(block);
}

void many_at_once() {
    constexpr int count = 500;
    void* blocks[count];
    for (int each = 0; each < calls / count; ++each) {
        for (void*& block : blocks) {
            block = hidden(std::malloc(64));
            *static_cast<char*>(block) = 1;
        }
        for (void* const block : blocks) std::free(block);
    }
}

void in_two_threads() {
    std::thread other(&at_random);
    at_random();
    other.join();
}

constexpr int large_calls = 400;

/// Microseconds of a pair, with the writes.
void large_at_a_time() {
    for (int each = 0; each < large_calls; ++each) {
        void* const block = hidden(std::malloc(300'000));
        std::memset(block, 1, 300'000);
        std::free(hidden(block));
    }
}

[[nodiscard]] double cost_of(void (*loop)()) {
    double best = 1e9;
    for (int each = 0; each < rounds; ++each) {
        const auto begin = std::chrono::steady_clock::now();
        loop();
        const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
        if (time.count() < best) best = time.count();
    }
    return best / calls / 2;
}

}

int main() {
    const double large_us = cost_of(&large_at_a_time) * calls * 2 / large_calls / 1000;
    std::printf("%.1f %.1f %.1f %.1f %.1f\n", cost_of(&one_at_a_time), cost_of(&at_random), cost_of(&many_at_once),
                cost_of(&in_two_threads), large_us);
    return 0;
}
