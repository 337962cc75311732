// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Makes threads meet for certain, on one processor too: whoever holds a lock waits until the others sleep for it.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace watched {

/// Of one thread: where it says who it is.
using thread_id = std::atomic<int>;

inline void announce(thread_id& own) { own.store(static_cast<int>(::syscall(SYS_gettid))); }

/// Asks the kernel, without an allocation.
inline bool is_asleep(int thread) {
    char path[64], text[256];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t bytes = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[bytes > 0 ? bytes : 0] = 0;
    const char* const end_of_name = std::strrchr(text, ')');
    return end_of_name != nullptr && end_of_name[1] != 0 && end_of_name[2] == 'S';
}

/// Returns when the thread has announced itself and sleeps; its only reason must be the caller's lock.
inline void wait_until_asleep(const thread_id& thread) {
    while (thread.load() == 0 || !is_asleep(thread.load())) ::usleep(1000);
}

}
