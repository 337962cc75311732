// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenMP's tasks in one thread, which runs them while it waits for them: it waits for nobody.

#include <cstdio>

namespace {

void spin(int steps) {
    for (int step = 0; step < steps; ++step) __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) int fibonacci(int number) {
    if (number < 2) {
        spin(200'000);
        return number;
    }
    int one = 0, two = 0;
#pragma omp task shared(one)
    one = fibonacci(number - 1);
#pragma omp task shared(two)
    two = fibonacci(number - 2);
#pragma omp taskwait
    return one + two;
}

}

int main() {
    int found = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    found = fibonacci(10);
    return found == 55 ? 0 : 1;
}
