// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Has a malloc of its own in its file: the loader prefers it to every library's.

#include <cstddef>
#include <cstring>

namespace {

alignas(16) char store[std::size_t{4} << 20];
std::size_t store_used = 0;

}

extern "C" {

void* malloc(std::size_t bytes) {
    const std::size_t at = store_used + 16;
    if (bytes > sizeof store - at) return nullptr;
    std::memcpy(store + at - sizeof bytes, &bytes, sizeof bytes);
    store_used = at + (bytes + 15) / 16 * 16;
    return store + at;
}
void free(void*) {}
void* calloc(std::size_t count, std::size_t bytes) { return malloc(count * bytes); }
void* realloc(void* block, std::size_t bytes) {
    void* const moved = malloc(bytes);
    std::size_t before = 0;
    if (block != nullptr) std::memcpy(&before, static_cast<char*>(block) - sizeof before, sizeof before);
    if (moved != nullptr && block != nullptr) std::memcpy(moved, block, before < bytes ? before : bytes);
    return moved;
}
}

int main() {
    void* volatile block = malloc(100);
    free(block);
    return 3;
}
