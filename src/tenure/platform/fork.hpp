// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the system has for forks. What takes part in one: platform/fork_handler.hpp.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

using fork_function = void (*)() noexcept;

/// Asks that `before` be called on the thread that forks, then `in_parent` or `in_child`. Returns   false when refused,
/// and where there is no fork.
[[nodiscard]] TENURE_API bool at_fork(fork_function before, fork_function in_parent, fork_function in_child) noexcept;

/// The C library's lock of all open files, which fork() takes for itself after everybody's `before`. Who holds it may
/// wait for a file whose holder allocates, so a malloc must have it before its own locks (glibc's bug 19431). Nothing
/// where the C library has no such lock. For the three steps of a fork; the thread may hold it already.
TENURE_API void lock_open_files() noexcept;
TENURE_API void unlock_open_files() noexcept;
TENURE_API void forget_open_files_lock() noexcept;

}
