// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The process's own malloc inside the drop-in, which has taken over the public names: calls the C library's functions
/// by their internal names. This file replaces platform/posix/process_malloc.cpp.

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/platform/symbol.hpp>

extern "C" {
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
}

namespace tenure::inline TENURE_ABI::host {

void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t size = std::max<std::size_t>(bytes, 1);
    return alignment <= default_alignment ? __libc_malloc(size) : __libc_memalign(alignment, size);
}

void* process_allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment <= default_alignment) return __libc_calloc(1, std::max<std::size_t>(bytes, 1));
    void* const block = process_allocate(bytes, alignment);
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
}

void* process_reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment <= default_alignment) return __libc_realloc(block, std::max<std::size_t>(bytes, 1));
    void* const fresh = process_allocate(bytes, alignment); // realloc does not keep an alignment
    if (fresh == nullptr) return nullptr;
    std::memcpy(fresh, block, std::min(bytes, process_usable(block)));
    __libc_free(block);
    return fresh;
}

void process_deallocate(void* block) noexcept { __libc_free(block); }

// The only function of the family without an internal name.
std::size_t process_usable(const void* block) noexcept {
    using usable_size = std::size_t(void*);
    static std::atomic<usable_size*> known{nullptr}; // relaxed: code of the C library, there before every thread
    usable_size* call = known.load(std::memory_order_relaxed);
    if (call == nullptr) {
        call = reinterpret_cast<usable_size*>(platform::next_symbol("malloc_usable_size"));
        known.store(call, std::memory_order_relaxed);
    }
    return call == nullptr ? 0 : call(const_cast<void*>(block));
}

}
