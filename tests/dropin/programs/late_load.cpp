// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Loads the drop-in when threads are running already: its thread-local state must fit, and each thread finds its own.
//
// usage: late_load LIBTENURE_MALLOC

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void* (*their_malloc)(std::size_t);
void (*their_free)(void*);
pthread_barrier_t loaded;

void* work(void* is_late) {
    if (is_late == nullptr) ::pthread_barrier_wait(&loaded); // this thread is older than the library
    for (int i = 0; i < 100'000; ++i) {
        const auto bytes = static_cast<std::size_t>(i % 2000 + 1);
        void* const block = their_malloc(bytes);
        if (block == nullptr) return is_late;
        std::memset(block, 1, bytes);
        their_free(block);
    }
    return &loaded;
}

}

int main(int count, char** arguments) {
    if (count != 2) return 2;
    constexpr int threads = 4;
    ::pthread_barrier_init(&loaded, nullptr, threads + 1);
    pthread_t older[threads], younger[threads];
    for (pthread_t& each : older) ::pthread_create(&each, nullptr, &work, nullptr);
    for (int turn = 0; turn < 3; ++turn) { // it stays
        void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            std::fprintf(stderr, "late_load: %s\n", ::dlerror());
            return 1;
        }
        their_malloc = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "malloc"));
        their_free = reinterpret_cast<void (*)(void*)>(::dlsym(library, "free"));
        if (their_malloc == nullptr || their_malloc == &std::malloc) return 1;
        ::dlclose(library);
    }
    ::pthread_barrier_wait(&loaded);
    int good = 0;
    for (pthread_t& each : younger) ::pthread_create(&each, nullptr, &work, &loaded);
    for (int i = 0; i < threads; ++i) {
        void* first = nullptr;
        void* second = nullptr;
        ::pthread_join(older[i], &first);
        ::pthread_join(younger[i], &second);
        good += first == &loaded && second == &loaded ? 1 : 0;
    }
    return good == threads ? 0 : 1;
}
