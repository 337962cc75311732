// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A lock of TBB's own between two of its threads, which sleep for it as they do for want of work.

#include <oneapi/tbb/mutex.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <atomic>

#include "asleep.hpp"

namespace {

tbb::mutex lock;
std::atomic<int> inside = 0;
std::atomic<bool> have_met = false;
watched::thread_id ids[2];

__attribute__((noinline)) void take_turns(int index) {
    watched::announce(ids[index]);
    inside.fetch_add(1);
    // Until both threads are here: TBB gives each of them one. Without a sleep, which would pass for one in the lock.
    while (inside.load() < 2) sched_yield();
    for (int round = 0; round < 10; ++round) {
        const tbb::mutex::scoped_lock held(lock);
        if (!have_met.exchange(true)) watched::wait_until_asleep(ids[1 - index]);
        usleep(3'000);
    }
}

}

int main() {
    const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    tbb::parallel_for(0, 2, take_turns);
}
