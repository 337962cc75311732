// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/blocks/interpose/real.hpp"

#include <atomic>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/symbol.hpp>

namespace tenure::lab::blocks {

constinit detail::atomic<void*> real_functions[call_count] = {};

namespace {

constexpr const char* names[call_count] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "free",
    "malloc_usable_size",
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

constinit thread_local bool is_finding = false;

constexpr std::size_t early_capacity = std::size_t{64} * 1024, head_bytes = 16;
alignas(head_bytes) constinit unsigned char early_store[early_capacity] = {};
constinit std::atomic<std::size_t> early_used{0};

}

void* find_real(call which) noexcept {
    if (is_finding) return nullptr;
    is_finding = true;
    void* const found = platform::next_symbol(names[static_cast<std::size_t>(which)]);
    is_finding = false;
    real_functions[static_cast<std::size_t>(which)].store(found, detail::memory_order::release);
    return found;
}

// Each block is preceded by its size.
void* take_early(std::size_t bytes) noexcept {
    if (bytes > early_capacity) return nullptr;
    const std::size_t taken = head_bytes + align_up(bytes, head_bytes);
    const std::size_t begin = early_used.fetch_add(taken, std::memory_order_relaxed);
    if (begin > early_capacity || taken > early_capacity - begin) return nullptr;
    std::memcpy(early_store + begin, &bytes, sizeof bytes);
    return early_store + begin + head_bytes;
}

bool is_early(const void* block) noexcept {
    return address_of(block) - address_of(early_store) < early_capacity;
}

std::size_t early_bytes(const void* block) noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const unsigned char*>(block) - head_bytes, sizeof bytes);
    return bytes;
}

}
