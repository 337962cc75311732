// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/blocks/interpose/real.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/symbol.hpp>

namespace tenure::lab::blocks {

constinit detail::atomic<void*> real_functions[call_count] = {};
const char no_function = 0;

namespace {

constexpr const char* names[call_count] = {
    "malloc",
    "calloc",
    "realloc",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "valloc",
    "pvalloc",
    "free",
    "free_sized",
    "free_aligned_sized",
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
constinit std::atomic<bool> has_found_all{false};

constexpr std::size_t early_capacity = std::size_t{64} * 1024, head_bytes = 16;
alignas(head_bytes) constinit unsigned char early_store[early_capacity] = {};
constinit std::atomic<std::size_t> early_used{0};

}

// The C++ library may come later, with a plug-in of a program in C that keeps its names to itself. So its functions are
// looked for once more when they are called, by the library's name.
void* find_real(call which) noexcept {
    if (is_finding) return nullptr;
    is_finding = true;
    const auto index = static_cast<std::size_t>(which);
    const bool is_of_cpp = which >= call::new_object;
    void* found =
        is_of_cpp && has_found_all.load(std::memory_order_relaxed) ? nullptr : platform::next_symbol(names[index]);
    if (found == nullptr && is_of_cpp) {
        for (const char* const library : {"libstdc++.so.6", "libc++.so.1"}) {
            if (found == nullptr) found = platform::symbol_of_loaded(library, names[index]);
        }
    }
    is_finding = false;
    const bool may_come = is_of_cpp && !has_found_all.load(std::memory_order_relaxed);
    if (found != nullptr || !may_come)
        real_functions[index].store(found != nullptr ? found : const_cast<char*>(&no_function),
                                    detail::memory_order::release);
    return found;
}

void find_all() noexcept {
    for (std::size_t index = 0; index < call_count; ++index) {
        if (real_functions[index].load(detail::memory_order::relaxed) == nullptr)
            static_cast<void>(find_real(static_cast<call>(index)));
    }
    has_found_all.store(true, std::memory_order_relaxed);
    // Of a failed look-up dlerror() would tell the program. The second call frees the text.
    static_cast<void>(::dlerror());
    static_cast<void>(::dlerror());
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

bool is_early(const void* block) noexcept { return address_of(block) - address_of(early_store) < early_capacity; }

std::size_t early_bytes(const void* block) noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const unsigned char*>(block) - head_bytes, sizeof bytes);
    return bytes;
}

}
