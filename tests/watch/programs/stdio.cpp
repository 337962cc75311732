// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Threads that write to one file of stdio: its lock is the C library's own.

#include <cstdio>
#include <thread>
#include <vector>

int main() {
    std::FILE* const file = std::fopen("/dev/null", "w");
    if (file == nullptr) return 1;
    std::vector<char> room(1 << 12);
    std::setvbuf(file, room.data(), _IOFBF, room.size());
    std::vector<std::thread> crew;
    for (int thread = 0; thread < 2; ++thread) {
        crew.emplace_back([file] {
            for (int line = 0; line < 400'000; ++line)
                std::fputs("a line that is long enough to be worth a lock\n", file);
        });
    }
    for (std::thread& each : crew) each.join();
    std::fclose(file);
}
