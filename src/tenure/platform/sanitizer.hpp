// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Tells AddressSanitizer, when it is in the process, what may be touched, and Valgrind, when the library was built
/// with TENURE_VALGRIND. Without either each call is one load and a branch, and checked builds alone make them.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// An access to these bytes is an error from now on.
TENURE_API void poison(const void* bytes, std::size_t count) noexcept;

/// These bytes may be touched again; what is in them counts as not yet written.
TENURE_API void unpoison(const void* bytes, std::size_t count) noexcept;

/// Whether an access to one of these bytes is an error; never without the sanitizer.
[[nodiscard]] TENURE_API bool is_poisoned(const void* bytes, std::size_t count) noexcept;

/// Fills with freed_fill and poisons.
TENURE_API void poison_freed(void* bytes, std::size_t count) noexcept;

/// The same for what is dropped at once and may be large: pages that are not in memory are left as they are.
TENURE_API void poison_dropped(void* bytes, std::size_t count) noexcept;

/// The bytes hold pointers to memory that is in use: LeakSanitizer looks there.
TENURE_API void add_leak_root(const void* bytes, std::size_t count) noexcept;
TENURE_API void remove_leak_root(const void* bytes, std::size_t count) noexcept;

}
