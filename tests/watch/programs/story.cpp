// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The story: memory is taken beforehand, and yet the threads that write text wait for each other, because the
/// formatter takes a lock of the heap in each call, to free a null pointer under it. Once in a function that the
/// program exports, once in one that only its own file knows.

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "asleep.hpp"

namespace {

std::mutex debug_heap_lock;
constexpr int objects = 40'000, threads = 2;
constexpr std::size_t bytes = 64;

// A heap with checks looks at the block under its lock, also at none.
__attribute__((noinline)) void debug_free(void* block) {
    const std::lock_guard guard(debug_heap_lock);
    volatile unsigned checked = 0;
    for (unsigned index = 0; index < 400; ++index) checked = checked + index;
    // A compiler knows what free(nullptr) does, and would leave it out.
    void (*volatile release)(void*) = std::free;
    release(block);
}

__attribute__((noinline)) int format_quietly(char* to, bool yes, double value) {
    const int written = std::snprintf(to, bytes, "%s%.1f", yes ? "y" : "n", value);
    debug_free(nullptr);
    __asm__ volatile("" ::: "memory"); // the call before is not the last thing that is done
    return written;
}

}

extern "C" __attribute__((noinline, visibility("default"))) int format_object(char* to, bool yes, double value) {
    const int written = std::snprintf(to, bytes, "%s%.2f", yes ? "y" : "n", value);
    debug_free(nullptr);
    __asm__ volatile("" ::: "memory");
    return written;
}

int main() {
    std::vector<char> text(std::size_t{threads} * objects * 2 * bytes);
    std::vector<std::thread> crew;
    watched::thread_id ids[threads] = {};
    std::unique_lock guard(debug_heap_lock);
    for (int thread = 0; thread < threads; ++thread) {
        crew.emplace_back([&text, &ids, thread] {
            watched::announce(ids[thread]);
            char* to = text.data() + std::size_t(thread) * objects * 2 * bytes;
            for (int object = 0; object < objects; ++object) {
                to += format_object(to, object % 2 == 0, object * 0.37);
                to += format_quietly(to, object % 3 == 0, object * 0.11);
            }
        });
    }
    for (const watched::thread_id& each : ids) watched::wait_until_asleep(each);
    guard.unlock();
    for (std::thread& each : crew) each.join();
    return text[0] == 'y' ? 0 : 1;
}
