// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// Maps more than asked for and gives back both ends, so that the rest is aligned.
void* map_aligned(std::size_t bytes, std::size_t alignment, int protection) noexcept {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    std::size_t const page = page_bytes();
    std::size_t const extra = alignment > page ? alignment - page : 0;
    if (bytes == 0 || bytes > max_object_bytes - extra) return nullptr;
    void* const mapped = ::mmap(nullptr, bytes + extra, protection, flags, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    if (extra == 0) return mapped;
    std::uintptr_t const begin = address_of(mapped);
    std::uintptr_t const first = align_up(begin, alignment);
    std::size_t const front = first - begin;
    if (front != 0) ::munmap(mapped, front);
    if (extra != front) ::munmap(pointer_at(first + bytes), extra - front);
    return pointer_at(first);
}

}

std::size_t page_bytes() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); // a load: the C library has it from the kernel
}

std::size_t address_limit_bytes() noexcept {
    struct ::rlimit limit {};
    bool const is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? static_cast<std::size_t>(limit.rlim_cur) : SIZE_MAX;
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept { return map_aligned(bytes, alignment, PROT_NONE); }

void* map(std::size_t bytes, std::size_t alignment) noexcept {
    return map_aligned(bytes, alignment, PROT_READ | PROT_WRITE);
}

void unreserve(void* range, std::size_t bytes) noexcept { ::munmap(range, bytes); }

bool seal(void* pages, std::size_t bytes) noexcept {
    return decommit(pages, bytes) && ::mprotect(pages, bytes, PROT_NONE) == 0;
}

bool commit(void* pages, std::size_t bytes) noexcept { return ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0; }

}
