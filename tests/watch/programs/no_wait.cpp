// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// usage: no_wait WAY    breaks a promise not to wait in one way, or in none
///
/// The locks are free when they are taken, except in `held`.

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/region.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <thread>

#include "asleep.hpp"

namespace {

std::mutex planted;
std::shared_mutex planted_shared;
constexpr int rounds = 5;

__attribute__((noinline)) void allocate_once(void*& block) { block = std::malloc(100); }
__attribute__((noinline)) void free_once(void* block) {
    std::free(block);
    asm volatile("" ::: "memory"); // not a tail call
}
__attribute__((noinline)) void lock_once() { const std::lock_guard guard(planted); }
__attribute__((noinline)) void read_once() { const std::shared_lock guard(planted_shared); }
__attribute__((noinline)) void wait_once() {
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    static pthread_mutex_t beside = PTHREAD_MUTEX_INITIALIZER;
    const timespec passed{1, 0};
    pthread_mutex_lock(&beside);
    pthread_cond_timedwait(&never, &beside, &passed);
    pthread_mutex_unlock(&beside);
}

/// The other thread waits for a lock that this one holds.
void wait_for_a_held_lock() {
    watched::thread_id other{0};
    planted.lock();
    std::thread waiter([&other] {
        watched::announce(other);
        const tenure::no_wait_scope promise;
        lock_once();
    });
    watched::wait_until_asleep(other);
    planted.unlock();
    waiter.join();
}

/// What a promise leaves: a try, a permission, other threads, and what is done outside.
void keep() {
    std::thread other([] {
        void* block = nullptr;
        allocate_once(block);
        free_once(block);
        lock_once();
    });
    {
        const tenure::no_wait_scope promise;
        if (planted_shared.try_lock()) planted_shared.unlock();
        const tenure::allow_alloc_scope permission;
        void* block = nullptr;
        allocate_once(block);
        free_once(block);
        lock_once();
    }
    other.join();
    lock_once();
}

void repeat(std::string_view way) {
    for (int round = 0; round < rounds; ++round) {
        void* block = nullptr;
        if (way == "free") allocate_once(block);
        const tenure::no_wait_scope promise;
        const tenure::no_wait_scope nested;
        if (way == "allocation") allocate_once(block);
        if (way == "free" || way == "null") free_once(block);
        if (way == "lock") lock_once();
        if (way == "read") read_once();
        if (way == "condition") wait_once();
        if (way != "allocation") continue;
        const tenure::allow_alloc_scope permission;
        free_once(block);
    }
}

/// The child's own scopes count in its own recording.
int fork_in_scope() {
    const tenure::no_wait_scope promise;
    const pid_t child = ::fork();
    if (child == 0) {
        {
            const tenure::no_wait_scope own;
            lock_once();
        }
        ::_exit(0);
    }
    const tenure::allow_alloc_scope permission;
    int status = -1;
    return ::waitpid(child, &status, 0) == child ? status : 1;
}

}

int main(int, char** arguments) {
    const std::string_view way = arguments[1];
    if (way == "held") {
        wait_for_a_held_lock();
    } else if (way == "keep") {
        keep();
    } else if (way == "fork") {
        return fork_in_scope();
    } else {
        repeat(way);
    }
    return 0;
}
