// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A malloc that places each block behind the one before, with 16 bytes between, and never uses or returns memory
/// again. What replay says of its memory and its distances is known.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sys/mman.h>

namespace {

constexpr std::size_t reserved_bytes = std::size_t{4} << 30, header_bytes = 16;

std::byte* reserve() {
    void* const made =
        ::mmap(nullptr, reserved_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
}

std::atomic<std::size_t> used_bytes{0};

/// The block's size is in the 16 bytes in front of it.
void* place(std::size_t bytes, std::size_t alignment) {
    static std::byte* const memory = reserve();
    if (memory == nullptr || bytes > reserved_bytes) return nullptr;
    const std::size_t needed = (bytes + 15) / 16 * 16 + header_bytes + (alignment > 16 ? alignment : 0);
    const std::size_t begin = used_bytes.fetch_add(needed);
    if (begin + needed > reserved_bytes) return nullptr;
    std::size_t block = begin + header_bytes;
    if (alignment > 16) block = (block + alignment - 1) / alignment * alignment;
    std::memcpy(memory + block - header_bytes, &bytes, sizeof bytes);
    return memory + block;
}

std::size_t size_of(const void* block) {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const std::byte*>(block) - header_bytes, sizeof bytes);
    return bytes;
}

}

extern "C" {

void* malloc(std::size_t bytes) noexcept { return place(bytes, 16); }
void free(void*) noexcept {}
void* calloc(std::size_t count, std::size_t bytes) noexcept { return place(count * bytes, 16); } // pages are new
void* realloc(void* block, std::size_t bytes) noexcept {
    void* const made = place(bytes, 16);
    if (made == nullptr || block == nullptr) return made;
    const std::size_t old_bytes = size_of(block);
    return std::memcpy(made, block, old_bytes < bytes ? old_bytes : bytes);
}
int posix_memalign(void** made, std::size_t alignment, std::size_t bytes) noexcept {
    *made = place(bytes, alignment);
    return *made == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return place(bytes, alignment); }
void* memalign(std::size_t alignment, std::size_t bytes) noexcept { return place(bytes, alignment); }
std::size_t malloc_usable_size(void* block) noexcept { return block == nullptr ? 0 : size_of(block); }
}
