// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Facts about the test's process (its sanitizer, the bytes in use by malloc), and work on a new thread.

#include <malloc.h>

#include <cstddef>
#include <thread>
#include <utility>

// Weak symbols: nullptr without the sanitizer.
extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void*, std::size_t);
__attribute__((weak)) void __tsan_acquire(void*);
__attribute__((weak)) std::size_t __sanitizer_get_current_allocated_bytes();
__attribute__((weak)) int __lsan_do_recoverable_leak_check();
}

namespace support {

inline bool under_address_sanitizer() { return &__asan_poison_memory_region != nullptr; }
inline bool under_thread_sanitizer() { return &__tsan_acquire != nullptr; }
inline bool under_sanitizer() { return under_address_sanitizer() || under_thread_sanitizer(); }

/// Whether malloc_bytes() is known. musl does not count.
#if defined(__GLIBC__)
inline constexpr bool malloc_is_counted = true;
#else
inline constexpr bool malloc_is_counted = false;
#endif

/// Bytes that are allocated from the process's malloc; 0 where it does not count.
inline std::size_t malloc_bytes() {
    if (&__sanitizer_get_current_allocated_bytes != nullptr) return __sanitizer_get_current_allocated_bytes();
#if defined(__GLIBC__)
    const auto seen = ::mallinfo2();
    return seen.uordblks + seen.hblkhd;
#else
    return 0;
#endif
}

/// Runs `work` on a thread that has not used the library yet, and waits for it.
template<class Work>
void on_fresh_thread(Work&& work) {
    std::thread(std::forward<Work>(work)).join();
}

}
