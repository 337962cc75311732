// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenMP, of whichever compiler: a parallel loop that allocates, a critical section, a barrier in the middle, and
/// pieces of work that are not even.

#include <cstdio>
#include <cstdlib>

namespace {

int total = 0;

__attribute__((noinline)) void spin(int steps) {
    for (int step = 0; step < steps; ++step) __asm__ volatile("" ::: "memory");
}

}

int main() {
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for
            for (int index = 0; index < 1000; ++index) {
                void* volatile block = std::malloc(100);
                std::free(block);
                if (index < 500) spin(2000);
            }
            for (int index = 0; index < 200; ++index) {
#pragma omp critical
                {
                    spin(1000);
                    ++total;
                }
            }
#pragma omp barrier
        }
        spin(4'000'000); // by one thread: the others are in no region meanwhile
    }
    return total == 20 * 2 * 200 ? 0 : 1;
}
