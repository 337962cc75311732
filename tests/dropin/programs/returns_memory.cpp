// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Memory that becomes free returns to the system without a further call, however it became free.
//
// usage: returns_memory realloc|shrink|threads|canonical|pinned

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr int block_count = 100, thread_count = 64;

void* blocks[block_count];

// Without a call of malloc, which fopen() would make.
std::size_t resident_bytes() {
    char text[128]{};
    const int file = ::open("/proc/self/statm", O_RDONLY);
    const ssize_t count = ::read(file, text, sizeof text - 1);
    ::close(file);
    const char* const second = count > 0 ? std::strchr(text, ' ') : nullptr;
    if (second == nullptr) std::abort();
    return std::strtoul(second, nullptr, 10) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void take(std::size_t bytes) {
    for (void*& block : blocks) {
        block = std::malloc(bytes);
        if (block == nullptr) std::abort();
        std::memset(block, 1, bytes);
    }
}

void reallocate(std::size_t bytes) {
    for (void*& block : blocks) {
        block = std::realloc(block, bytes);
        if (block == nullptr) std::abort();
    }
}

void release() {
    for (void* const block : blocks) std::free(block);
}

void* fill_a_cache(void* barrier) {
    constexpr int rounds = 50, count = 40;
    void* mine[count];
    for (int round = 0; round < rounds; ++round) {
        for (int each = 0; each < count; ++each) {
            const std::size_t bytes = 200 + static_cast<std::size_t>(each) * 745;
            mine[each] = std::malloc(bytes);
            if (mine[each] == nullptr) std::abort();
            std::memset(mine[each], 1, bytes);
        }
        for (void* const block : mine) std::free(block);
    }
    ::pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
    ::usleep(1'500'000); // by now, the background thread has ended
    return nullptr;
}

void run_threads() {
    pthread_t threads[thread_count];
    pthread_barrier_t barrier;
    ::pthread_barrier_init(&barrier, nullptr, thread_count);
    for (pthread_t& thread : threads) {
        if (::pthread_create(&thread, nullptr, &fill_a_cache, &barrier) != 0) std::abort();
    }
    for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
}

/// Whether the background thread may run on all processors of the main thread.
bool is_free_to_run() {
    cpu_set_t main_set;
    ::sched_getaffinity(::getpid(), sizeof main_set, &main_set);
    DIR* const tasks = ::opendir("/proc/self/task");
    bool is_found = false;
    while (const dirent* const entry = ::readdir(tasks)) {
        const int id = std::atoi(entry->d_name);
        char path[64], name[32] = "";
        std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
        std::FILE* const file = id != 0 ? std::fopen(path, "r") : nullptr;
        if (file == nullptr) continue;
        if (std::fgets(name, sizeof name, file) != nullptr && std::strcmp(name, "tenure\n") == 0) {
            cpu_set_t set;
            is_found = ::sched_getaffinity(id, sizeof set, &set) == 0 && CPU_EQUAL(&set, &main_set) &&
                       ::sched_getscheduler(id) == SCHED_OTHER;
        }
        std::fclose(file);
    }
    ::closedir(tasks);
    return is_found;
}

void* release_pinned(void*) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    const sched_param highest{.sched_priority = 50};
    ::sched_setscheduler(0, SCHED_FIFO, &highest); // where that is permitted
    release();
    return nullptr;
}

bool comes_true(bool (*holds)()) {
    for (int each = 0; each < 1000; ++each) {
        if (holds()) return true;
        ::usleep(10'000);
    }
    return false;
}

}

int main(int count, char** arguments) {
    const char* const how = count > 1 ? arguments[1] : "";
    const bool is_shrunk = std::strcmp(how, "shrink") == 0;
    if (std::strcmp(how, "threads") == 0) {
        run_threads();
    } else if (std::strcmp(how, "realloc") == 0) {
        take(200'000);
        reallocate(40'000);
    } else if (is_shrunk) {
        take(mebibyte);
        reallocate(600'000);
    } else if (std::strcmp(how, "pinned") == 0) {
        take(200'000);
        pthread_t thread;
        if (::pthread_create(&thread, nullptr, &release_pinned, nullptr) != 0) std::abort();
        ::pthread_join(thread, nullptr);
        if (comes_true(&is_free_to_run)) return 0;
        std::puts("the background thread runs as the thread that started it");
        return 1;
    } else {
        // Of a program at fixed addresses, this is an address in the program.
        std::printf("%p\n", reinterpret_cast<void*>(&::pthread_create));
        take(200'000);
        release();
    }
    const bool is_returned = is_shrunk ? comes_true([] { return resident_bytes() < 70 * mebibyte; })
                                       : comes_true([] { return resident_bytes() < 16 * mebibyte; });
    if (is_returned) return 0;
    std::printf("%zu bytes remain resident\n", resident_bytes());
    return 1;
}
