// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenMP's tasks, run by threads that wait for each other at the end of their region: tasks that bring along a string,
/// a wide value and nothing at all, with an event, and the pieces of loops.

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::atomic<long> sum = 0;
std::atomic<int> misplaced = 0;

struct alignas(64) wide {
    long value;
};

__attribute__((noinline)) void leaf(long value) {
    void* volatile block = std::malloc(100);
    std::free(block);
    sum += value;
}

}

int main() {
    const std::string text(100, 'x');
    const wide number{7};
    long reduced = 0;
#pragma omp parallel num_threads(2)
#pragma omp single nowait
    {
#pragma omp taskloop reduction(+ : reduced)
        for (int index = 0; index < 100; ++index) {
            leaf(0);
            reduced += index;
        }
        for (int index = 0; index < 100; ++index) {
#pragma omp task firstprivate(text)
            leaf(static_cast<long>(text.size()));
#pragma omp task firstprivate(number)
            {
                if (reinterpret_cast<std::uintptr_t>(&number) % 64 != 0) ++misplaced;
                leaf(number.value);
            }
#pragma omp task if (index % 2 == 0)
            leaf(1);
        }
#pragma omp taskloop nogroup grainsize(1) firstprivate(text)
        for (int index = 0; index < 100; ++index) leaf(index + static_cast<long>(text.size()));
#pragma omp taskloop nogroup grainsize(3)
        for (unsigned long long index = 0; index < 100; ++index) leaf(static_cast<long>(index));
    }
    std::printf("%ld %ld %d\n", sum.load(), reduced, misplaced.load());
}
