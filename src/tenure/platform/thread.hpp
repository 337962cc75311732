// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Threads: identity, processor count, and notification when a thread ends.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A number that no other live thread of the process has. Cost      a system call.
[[nodiscard]] TENURE_API std::uint64_t thread_id() noexcept;

/// The number of processors that the process may run on. Cost      a system call.
[[nodiscard]] TENURE_API std::size_t processor_count() noexcept;

/// Whether the process certainly has only one thread; false if unknown.
[[nodiscard]] TENURE_API bool is_single_threaded() noexcept;

/// The number of threads of the process; zero if unknown. It may be called in a signal handler. Cost      a system
/// call.
[[nodiscard]] TENURE_API std::size_t thread_count() noexcept;

/// Gives the calling thread the processors of the main thread: a thread starts with those of the thread that starts it.
TENURE_API void use_processors_of_main_thread() noexcept;

/// Called on the ending thread, after the destructors of its C++ thread-local objects, and again if a later destructor
/// uses what the function has cleaned up. On musl these destructors may be such later ones.
using thread_end_function = void (*)() noexcept;

/// Registers `function` to be called when the calling thread ends; nothing is called at the end of the main thread.
/// Each function takes one of at most eight slots of the process; registering it twice counts once.
/// Returns   false when the system has no slot left, or is temporarily out of memory; what the thread abandons then
///           stays until the process ends.
TENURE_API bool at_thread_end(thread_end_function function) noexcept;
/// Whether there is a slot for the function; the first call creates it. False permanently when all slots are taken.
[[nodiscard]] TENURE_API bool has_end_slot(thread_end_function function) noexcept;

/// The maximum number of times that the system calls a thread's functions, for functions that register again each time.
[[nodiscard]] TENURE_API std::size_t thread_end_rounds() noexcept;

/// Whether the calling thread has begun to call its functions of at_thread_end(): its C++ thread-local objects are
/// gone (on musl, perhaps not yet), and so is what a runtime of another language knows of it.
[[nodiscard]] TENURE_API bool is_thread_ending() noexcept;

}
