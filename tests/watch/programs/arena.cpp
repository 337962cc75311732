// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Threads that share the C library's one arena, with blocks that no cache of a thread's holds.

#include <malloc.h>

#include <cstdlib>
#include <thread>
#include <vector>

int main() {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    std::vector<std::thread> crew;
    for (int thread = 0; thread < 2; ++thread) {
        crew.emplace_back([] {
            constexpr std::size_t count = 64, rounds = 3000, bytes = 4000; // past what is cached, apart from each other
            std::vector<void*> blocks(count);
            for (std::size_t round = 0; round < rounds; ++round) {
                for (void*& block : blocks) block = std::malloc(bytes + round % 7 * 64);
                for (std::size_t index = 0; index < count; index += 2) std::free(blocks[index]);
                for (std::size_t index = 1; index < count; index += 2) std::free(blocks[index]);
            }
        });
    }
    for (std::thread& each : crew) each.join();
}
