// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The system's fork hooks. platform/fork_handler.hpp registers the library's locks with them.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

using fork_function = void (*)() noexcept;

/// Registers `before`, which runs on the forking thread before a fork, and `in_parent` and `in_child`, which run after
/// it. Returns   false when out of memory, and on systems without fork.
[[nodiscard]] TENURE_API bool at_fork(fork_function before, fork_function in_parent, fork_function in_child) noexcept;

/// The C library's lock of all open files. fork() takes it after all `before` handlers. Its holder may wait for a file
/// whose holder allocates, so a malloc must take it before its own locks (glibc bug 19431). One function for each step
/// of a fork; they do nothing if there is no such lock. The thread may already hold the lock.
TENURE_API void lock_open_files() noexcept;
TENURE_API void unlock_open_files() noexcept;
TENURE_API void forget_open_files_lock() noexcept;

}
