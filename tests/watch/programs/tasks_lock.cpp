// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A lock of TBB's own between two of its threads, which sleep for it as they do for want of work.

#include <oneapi/tbb/mutex.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <atomic>

namespace {

tbb::mutex lock;
std::atomic<int> inside = 0;

__attribute__((noinline)) void take_turns(int) {
    inside.fetch_add(1);
    for (int round = 0; round < 1000 && inside.load() < 2; ++round) usleep(1000); // until both threads are here
    for (int round = 0; round < 10; ++round) {
        tbb::mutex::scoped_lock const held(lock);
        usleep(3'000);
    }
}

}

int main() {
    tbb::global_control const two(tbb::global_control::max_allowed_parallelism, 2);
    tbb::parallel_for(0, 2, take_turns);
}
