// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Two threads that touch the fresh pages of one mapping.

#include <sys/mman.h>

#include <cstddef>
#include <thread>
#include <vector>

int main() {
    constexpr std::size_t page = 4096, pages = 60'000, threads = 2;
    void* const memory = mmap(nullptr, page * pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, page * pages, MADV_NOHUGEPAGE);
    std::vector<std::thread> crew;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        crew.emplace_back([memory, thread] {
            auto* const bytes = static_cast<volatile unsigned char*>(memory);
            for (std::size_t index = thread; index < pages; index += threads) bytes[index * page] = 1;
        });
    }
    for (std::thread& each : crew) each.join();
}
