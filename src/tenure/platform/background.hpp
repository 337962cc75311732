// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The one background thread of a copy of the library: its start, its sleep and its end.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

enum class background_start : std::uint8_t {
    started,
    refused,   ///< the system is short of threads or memory: a later start may succeed
    impossible ///< the system forbids threads, or the library is being unloaded
};

/// Whether the module that contains this copy of the library can be unloaded: no program can, and no library that says
/// so, as libtenure.so and libtenure_malloc.so do.
[[nodiscard]] TENURE_API bool is_unloadable() noexcept;

/// Starts the thread, which blocks all signals and has at least 64 KiB of stack beside the thread-local variables of
/// the program. When a plug-in with its own copy of the library is unloaded, its thread is woken and joined.
/// Requires  the function of the previous thread has announced its end. Waits until that thread has ended; a
///           cancellation of the caller stays pending meanwhile.
[[nodiscard]] TENURE_API background_start start_background(void (*function)() noexcept) noexcept;

/// Suspends the background thread, which must call it. Returns   false, at once, if its function must return.
[[nodiscard]] TENURE_API bool sleep_in_background(std::uint64_t time_ns) noexcept;

/// Whether the function must return, because the library is being unloaded.
[[nodiscard]] TENURE_API bool is_background_stopped() noexcept;

enum class background_phase : std::uint8_t {
    none,
    passing, ///< it starts or ends: the system may count it among the threads
    running
};
/// It may be called in a signal handler.
[[nodiscard]] TENURE_API background_phase phase_of_background() noexcept;

/// In the child of a fork, which has inherited no thread.
TENURE_API void forget_background() noexcept;

}
