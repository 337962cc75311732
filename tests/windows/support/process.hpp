// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/process.hpp for Windows, where no sanitizer is.

#include <malloc.h>

#include <cstddef>
#include <thread>
#include <utility>

/// A function that is not there: its address is null.
struct no_leak_check {
    constexpr std::nullptr_t operator&() const { return nullptr; }
    int operator()() const { return 0; }
};
inline constexpr no_leak_check __lsan_do_recoverable_leak_check{};

namespace support {

inline bool under_address_sanitizer() { return false; }
inline bool under_thread_sanitizer() { return false; }
inline bool under_sanitizer() { return false; }

inline constexpr bool malloc_is_counted = true;

/// Bytes that are allocated from the process's malloc.
inline std::size_t malloc_bytes() {
    _HEAPINFO at{};
    std::size_t bytes = 0;
    while (::_heapwalk(&at) == _HEAPOK)
        if (at._useflag == _USEDENTRY) bytes += at._size;
    return bytes;
}

/// Runs `work` on a thread that has not used the library yet, and waits for it.
template<class Work>
void on_fresh_thread(Work&& work) {
    std::thread(std::forward<Work>(work)).join();
}

}
