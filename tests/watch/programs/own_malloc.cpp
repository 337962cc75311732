// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A program that brings its own malloc: nothing that is preloaded can stand before it.

#include <cstddef>
#include <thread>

namespace {
alignas(64) unsigned char store[1 << 22];
std::size_t used = 0;
}

extern "C" {
void* malloc(std::size_t bytes) {
    const std::size_t begin = __atomic_fetch_add(&used, (bytes + 31) / 16 * 16, __ATOMIC_RELAXED);
    if (begin + bytes > sizeof store) return nullptr;
    return store + begin;
}
void free(void*) {}
void* calloc(std::size_t count, std::size_t bytes) { return malloc(count * bytes); }
void* realloc(void* block, std::size_t bytes) {
    auto* const made = static_cast<unsigned char*>(malloc(bytes));
    const auto* const old = static_cast<unsigned char*>(block);
    for (std::size_t index = 0;
         old != nullptr && made != nullptr && index < bytes && old + index < store + sizeof store; ++index)
        made[index] = old[index];
    return made;
}
}

int main() {
    std::thread([] {
        void* volatile block = malloc(10);
        free(block);
    }).join();
}
