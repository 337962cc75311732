// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Start-up of the hook.

#include <cstdint>

namespace tenure::lab::hook {

/// Asks the C library where this thread's stack ends; `top` is above its first frame. The call may allocate and take a
/// lock of the C library, so it is made only when a thread begins, never where the program may be in the middle of
/// either.
void know_own_stack(std::uintptr_t top) noexcept;

/// Whether this process is to be watched.
[[nodiscard]] bool is_process_watched() noexcept;

/// Registers for the ends of threads.
void prepare_threads() noexcept;
/// Registers for the end of this thread, which any code may have started.
void ask_for_end() noexcept;

}
