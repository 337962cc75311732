// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program with many thread-local variables, which lie on the stack of every thread: also on that of the library's
// thread, which must have room for its sweeps beside them.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/stat.h>

namespace {

__thread char variables[THREAD_LOCAL_BYTES];
char* blocks[20'000];

std::size_t thread_count() {
    struct stat found {};
    return ::stat("/proc/self/task", &found) == 0 ? static_cast<std::size_t>(found.st_nlink - 2) : 0;
}

bool becomes(std::size_t count) {
    constexpr timespec pause{0, 2'000'000};
    for (int look = 0; look < 5000; ++look) {
        if (thread_count() == count) return true;
        ::nanosleep(&pause, nullptr);
    }
    return false;
}

}

int main() {
    std::memset(variables, 1, sizeof variables);
    for (char*& block : blocks) {
        block = static_cast<char*>(std::malloc(1000));
        std::memset(block, 1, 1000);
    }
    for (std::size_t each = 0; each < sizeof blocks / sizeof blocks[0]; ++each) {
        if (each % 64 != 0) std::free(blocks[each]);
    }
    if (!becomes(2)) return std::puts("the library's thread has not started"), 1;
    if (!becomes(1)) return std::puts("the library's thread has not ended"), 2;
    return 0;
}
