// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// The copies of the library's thread-local variables, one for each thread that uses the library:
/// TENURE_OWN_THREAD_LOCAL in base/config.hpp.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The distance from the variables to the calling thread's copy; zero: it has none. Preserves the error code.
[[nodiscard]] std::uintptr_t thread_copy() noexcept;

/// Ends the calling thread's copy. From then on, until the thread has ended, it has the last one, which all threads use
/// one after another. Requires  the loader's lock.
void end_thread_copy() noexcept;

/// Frees all copies and the slot, when this code is unloaded.
void forget_thread_copies() noexcept;

}
