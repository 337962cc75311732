// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Tells AddressSanitizer (if it is in the process) and Valgrind (if the library was built with TENURE_VALGRIND) which
/// memory may be touched. Without either, each call is one load and a branch. Only checked builds poison and unpoison;
/// every build registers leak roots.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Whether AddressSanitizer is in the process, or the library was built for Valgrind.
[[nodiscard]] TENURE_API bool has_poison() noexcept;

/// From now on an access to these bytes is an error.
TENURE_API void poison(const void* bytes, std::size_t count) noexcept;

/// These bytes may be touched again; their contents count as uninitialised.
TENURE_API void unpoison(const void* bytes, std::size_t count) noexcept;

/// Whether an access to one of these bytes is an error; always false without the sanitizer.
[[nodiscard]] TENURE_API bool is_poisoned(const void* bytes, std::size_t count) noexcept;

/// Reads a word that may be poisoned, without a report: poisoned guard bytes and headers are the library's own.
[[nodiscard]] TENURE_API std::uint64_t read_hidden(const void* word) noexcept;

/// Finds the bytes that differ from `fill` in memory that may be poisoned, without a report.
/// Returns   the offset of the first; `count` if there is none.
[[nodiscard]] TENURE_API std::size_t first_other(const void* bytes, std::size_t count, unsigned char fill) noexcept;
/// Returns   the offset past the last; zero if there is none.
[[nodiscard]] TENURE_API std::size_t past_last_other(const void* bytes, std::size_t count, unsigned char fill) noexcept;

/// Fills the bytes with freed_fill and poisons them.
TENURE_API void poison_freed(void* bytes, std::size_t count) noexcept;

/// The same for large ranges that are dropped at once: skips OS pages that are not in memory.
TENURE_API void poison_dropped(void* bytes, std::size_t count) noexcept;

/// Whether ThreadSanitizer is in the process: the child of a fork must then start no thread.
[[nodiscard]] TENURE_API bool is_under_thread_sanitizer() noexcept;

/// Tells LeakSanitizer that the bytes hold pointers to memory in use.
TENURE_API void add_leak_root(const void* bytes, std::size_t count) noexcept;
TENURE_API void remove_leak_root(const void* bytes, std::size_t count) noexcept;

}
