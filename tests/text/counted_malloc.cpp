// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Stands in for malloc in this program and hands on to the C library's own.

#include "text/counted_malloc.hpp"

#include <dlfcn.h>

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

#    if defined(__GLIBC__)

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

#    else

// musl has no other names for its functions: the loader finds them, without an allocation. Its calloc calls the
// program's malloc, which counts; its aligned_alloc refuses if the program has a malloc and no aligned_alloc.
namespace {

template<class Function>
Function* theirs(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}

extern "C" {

void* malloc(std::size_t bytes) {
    static auto* const call = theirs<void*(std::size_t)>("malloc");
    ++calls;
    return call(bytes);
}

void* realloc(void* block, std::size_t bytes) {
    static auto* const call = theirs<void*(void*, std::size_t)>("realloc");
    ++calls;
    return call(block, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    static auto* const call = theirs<void*(std::size_t, std::size_t)>("aligned_alloc");
    return call(alignment, bytes);
}
}

#    endif

#endif
