// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Threads: which one this is, and being told when it ends.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A number that no other live thread of the process has. Cost      a system call.
[[nodiscard]] TENURE_API std::uint64_t thread_id() noexcept;

/// Processors that the process may run on. Cost      a system call.
[[nodiscard]] TENURE_API std::size_t processor_count() noexcept;

/// Whether the process has one thread for certain; false also where nobody knows.
[[nodiscard]] TENURE_API bool is_single_threaded() noexcept;

/// Starts a thread of the library's own, which nobody joins and which takes no signals. Returns   false when refused.
[[nodiscard]] TENURE_API bool start_background(void (*function)() noexcept) noexcept;

/// Called on the ending thread, after the destructors of its C++ thread-local objects. It may be called again for the
/// same thread when what it cleaned up is used once more by a later destructor.
using thread_end_function = void (*)() noexcept;

/// Asks that `function` be called when the calling thread ends. One slot per function, at most eight in a process;
/// asking twice for one function counts once. The main thread's end is the process's: nothing is called.
/// Returns   false when the system has no slot left, and when it has no memory for a moment; the thread's leftovers
/// then wait for the process's end.
TENURE_API bool at_thread_end(thread_end_function function) noexcept;
/// Whether there is a slot for the function, made at its first call: false once and for all where all are taken.
[[nodiscard]] TENURE_API bool has_end_slot(thread_end_function function) noexcept;

/// How many times the system calls back one thread's functions at most, for those that ask again each time.
[[nodiscard]] TENURE_API std::size_t thread_end_rounds() noexcept;

}
