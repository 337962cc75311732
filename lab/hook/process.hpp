// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The hook's own beginning.

#include <cstdint>

namespace tenure::lab::hook {

/// Asks the C library where this thread's stack ends, `top` being above its first frame. It may allocate, and take a
/// lock of the C library's: at a thread's begin, never where the program may be in the middle of either.
void know_own_stack(std::uintptr_t top) noexcept;

/// Whether this process is one of those that are to be watched.
[[nodiscard]] bool is_process_watched() noexcept;

/// Asks to be told of the ends of threads.
void prepare_threads() noexcept;
/// Asks to be told of this one's, whoever started it.
void ask_for_end() noexcept;

}
