// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A thread that waits within a call that waits: for a static which the other one makes, by a futex.

#include <unistd.h>

#include <thread>

#include "asleep.hpp"

namespace {

watched::thread_id ids[2];

struct slow {
    explicit slow(int maker) {
        watched::wait_until_asleep(ids[1 - maker]);
        usleep(100'000);
    }
};

__attribute__((noinline)) void use_it(int thread) {
    watched::announce(ids[thread]);
    static const slow made(thread);
    __asm__ volatile("" ::"r"(&made) : "memory");
}

}

int main() {
    std::thread first(use_it, 0), second(use_it, 1);
    first.join();
    second.join();
}
