// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// text/counted_malloc.cpp for Windows. The count is in a slot of the system: GCC's emulation of thread_local calls
/// malloc.

#include <text/counted_malloc.hpp>

#include <windows.h>

#include <atomic>
#include <cstdint>

// Neither may call malloc: no static object of a function, whose guard does.

namespace {

constinit std::atomic<DWORD> slot{TLS_OUT_OF_INDEXES};

void count_call() {
    if (slot == TLS_OUT_OF_INDEXES) slot = ::TlsAlloc(); // at the start, by the only thread
    const auto calls = reinterpret_cast<std::uintptr_t>(::TlsGetValue(slot));
    ::TlsSetValue(slot, reinterpret_cast<void*>(calls + 1));
}

/// A function of the C library, sought at its first call.
template<class Result, class... Args>
class library_function {
public:
    explicit constexpr library_function(const char* name) : name_(name) {}
    Result operator()(Args... args) {
        if (function_ == nullptr)
            function_ =
                reinterpret_cast<type>(reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(L"msvcrt"), name_)));
        return function_.load()(args...);
    }

private:
    using type = Result (*)(Args...);
    const char* name_;
    std::atomic<type> function_{nullptr};
};

constinit library_function<void*, std::size_t> library_malloc("malloc");
constinit library_function<void*, std::size_t, std::size_t> library_calloc("calloc");
constinit library_function<void*, void*, std::size_t> library_realloc("realloc");

}

std::optional<std::size_t> text_tests::malloc_calls() { return reinterpret_cast<std::uintptr_t>(::TlsGetValue(slot)); }

extern "C" {

void* malloc(std::size_t bytes) {
    count_call();
    return library_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
    count_call();
    return library_calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) {
    count_call();
    return library_realloc(block, bytes);
}
}
