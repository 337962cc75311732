// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A thread that waits within a call that waits: for a static which the other one makes, by a futex.

#include <unistd.h>

#include <thread>

namespace {

struct slow {
    slow() { usleep(100'000); }
};

__attribute__((noinline)) void use_it() {
    static slow const made;
    __asm__ volatile("" ::"r"(&made) : "memory");
}

}

int main() {
    std::thread first(use_it), second(use_it);
    first.join();
    second.join();
}
