// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/process.hpp for Windows, where no sanitizer is and the C library does not count its blocks.

#include <cstddef>
#include <thread>
#include <utility>

namespace support {

inline bool under_address_sanitizer() { return false; }
inline bool under_thread_sanitizer() { return false; }
inline bool under_sanitizer() { return false; }

/// Runs `work` on a thread that has not used the library yet, and waits for it.
template<class Work>
void on_fresh_thread(Work&& work) {
    std::thread(std::forward<Work>(work)).join();
}

}
