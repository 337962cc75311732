// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A watched function, and marks, in the program and in the handler of a signal that interrupts it at any point. Prints
/// how often the handler ran.

#include <dlfcn.h>
#include <sys/time.h>

#include <csignal>
#include <cstdio>

namespace {

using region_begin = void (*)(const char* name, std::size_t bytes);
using region_end = void (*)();
region_begin begin = nullptr;
region_end end = nullptr;
volatile long handled = 0;

}

extern "C" __attribute__((noinline)) int work(int steps) {
    for (int step = 0; step < steps; ++step) __asm__ volatile("" ::: "memory");
    return steps + 1;
}

int main() {
    begin = reinterpret_cast<region_begin>(dlsym(RTLD_DEFAULT, "tn_region_begin"));
    end = reinterpret_cast<region_end>(dlsym(RTLD_DEFAULT, "tn_region_end"));
    if (begin == nullptr || end == nullptr) return 2;
    std::signal(SIGALRM, [](int) {
        begin("inner", 5);
        work(3);
        end();
        handled = handled + 1;
    });
    const itimerval often{{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &often, nullptr);
    long wrong = 0;
    for (int round = 0; round < 300'000; ++round) {
        begin("outer", 5);
        if (work(5) != 6) ++wrong;
        end();
    }
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    std::printf("%ld\n", handled);
    return wrong == 0 ? 0 : 1;
}
