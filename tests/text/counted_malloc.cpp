// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Stands in for malloc in this program and hands on to the C library's own.

#include "text/counted_malloc.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define TEXT_TESTS_UNDER_SANITIZER 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define TEXT_TESTS_UNDER_SANITIZER 1
#    endif
#endif

#ifdef TEXT_TESTS_UNDER_SANITIZER

std::optional<std::size_t> text_tests::malloc_calls() { return std::nullopt; }

#else

namespace {
constinit thread_local std::size_t calls = 0;
}

std::optional<std::size_t> text_tests::malloc_calls() { return calls; }

extern "C" {

void* __libc_malloc(std::size_t bytes) noexcept;                    // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept; // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, std::size_t bytes) noexcept;      // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) noexcept {
    ++calls;
    return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
    ++calls;
    return __libc_calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) noexcept {
    ++calls;
    return __libc_realloc(block, bytes);
}
}

#endif
