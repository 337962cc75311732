// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Ways out of calls that are stood in for, and of a watched function: a thread that is cancelled in it, one that ends
/// itself there, operator new that throws. What must happen on the way is printed.

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace {

struct guard {
    const char* name;
    ~guard() { std::printf("%s was left\n", name); }
};

sem_t inside;

}

extern "C" {

__attribute__((noinline)) void wait_for_ever(int steps) {
    sem_post(&inside);
    for (volatile int step = steps; step != 0;) pause();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void end_here(int steps) {
    if (steps != 0) pthread_exit(nullptr);
    __asm__ volatile("" ::: "memory");
}
}

extern "C" __attribute__((noinline)) void never_called(int steps) {
    for (volatile int step = steps; step != 0;) pause();
    __asm__ volatile("" ::: "memory");
}

int main(int count, char**) {
    if (count > 9) never_called(count);
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    sem_init(&inside, 0, 0);
    pthread_t thread{};
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
            const guard cancelled{"a cancelled thread"};
            wait_for_ever(1);
            return nullptr;
        },
        nullptr);
    sem_wait(&inside);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);

    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
            const guard ended{"a thread that ends itself"};
            end_here(1);
            return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);

    for (int more = 0; more < 9; ++more) {
        pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
                end_here(1);
                return nullptr;
            },
            nullptr);
        pthread_join(thread, nullptr);
    }

    std::thread([] {
        volatile std::size_t too_much = SIZE_MAX / 4;
        try {
            char* volatile const block = new char[too_much];
            delete[] block;
        } catch (const std::bad_alloc&) {
            std::printf("there was no such memory\n");
        }
        for (int index = 0; index < 1000; ++index) {
            void* volatile block = std::malloc(10);
            std::free(block);
        }
    }).join();
}
