// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A lock that a program has made of a futex itself, as Rust's and absl's are.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "asleep.hpp"

namespace {

std::atomic<int> word{0}; // 0 free, 1 taken, 2 taken and somebody waits
int shared_count = 0;

__attribute__((noinline)) void take() {
    int expected = 0;
    if (word.compare_exchange_strong(expected, 1)) return;
    while (word.exchange(2) != 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
}
void give() {
    if (word.exchange(0) == 2) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}

int main() {
    constexpr int rounds = 20'000, threads = 2;
    std::vector<std::thread> crew;
    watched::thread_id ids[threads] = {};
    take();
    for (int thread = 0; thread < threads; ++thread) {
        crew.emplace_back([&ids, thread] {
            watched::announce(ids[thread]);
            for (int round = 0; round < rounds; ++round) {
                take();
                for (int step = 0; step < 2000; ++step) __asm__ volatile("" ::: "memory");
                ++shared_count;
                give();
            }
        });
    }
    for (const watched::thread_id& each : ids) watched::wait_until_asleep(each);
    give();
    for (std::thread& each : crew) each.join();
    return shared_count == rounds * threads ? 0 : 1;
}
