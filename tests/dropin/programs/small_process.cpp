// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A small program that frees large buffers which it never used has no background thread, and one that frees used
// blocks has.

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int thread_count() {
    int count = 0;
    DIR* const tasks = ::opendir("/proc/self/task");
    if (tasks == nullptr) return 0;
    while (const dirent* const entry = ::readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
    ::closedir(tasks);
    return count;
}

void* allocate(std::size_t bytes) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) std::abort();
    return block;
}

void free_an_unused_buffer() { std::free(allocate(std::size_t{8} << 20)); }

void free_used_blocks() {
    constexpr std::size_t count = 80, bytes = 100'000; // smaller than what checked builds unmap at once
    void* blocks[count];
    for (void*& block : blocks) block = std::memset(allocate(bytes), 1, bytes);
    for (void* block : blocks) std::free(block);
}

}

int main() {
    for (int each = 0; each < 20; ++each) free_an_unused_buffer();
    const int before = thread_count();
    free_used_blocks();
    int after = thread_count();
    for (int each = 0; each < 100 && after != 2; ++each) {
        ::usleep(10'000);
        after = thread_count();
    }
    if (before == 1 && after == 2) return 0;
    std::printf("threads: %d without and %d with memory to return\n", before, after);
    return 1;
}
