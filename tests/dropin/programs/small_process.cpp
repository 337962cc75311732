// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A small program that frees large buffers which it never used has no background thread, and one that used them has.

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;

int thread_count() {
    int count = 0;
    DIR* const tasks = ::opendir("/proc/self/task");
    if (tasks == nullptr) return 0;
    while (const dirent* const entry = ::readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
    ::closedir(tasks);
    return count;
}

void free_a_buffer(bool is_used) {
    void* volatile buffer = std::malloc(buffer_bytes);
    if (buffer == nullptr) std::abort();
    if (is_used) std::memset(buffer, 1, buffer_bytes);
    std::free(buffer);
}

}

int main() {
    for (int each = 0; each < 20; ++each) free_a_buffer(false);
    const int before = thread_count();
    free_a_buffer(true);
    int after = thread_count();
    for (int each = 0; each < 100 && after != 2; ++each) {
        ::usleep(10'000);
        after = thread_count();
    }
    if (before == 1 && after == 2) return 0;
    std::printf("threads: %d without and %d with memory to return\n", before, after);
    return 1;
}
