// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds out whether memory can be read, for code that looks at memory of others: stacks, and objects that the program
/// may have unmapped or freed without a call of their destructor.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Whether an access to all of these bytes succeeds. The answer holds until the program unmaps or protects the memory:
/// another thread may do that meanwhile. True, except for the first page, if the system does not tell, as under a
/// filter of system calls (seccomp) that refuses the question. Cost      a system call per 4 KiB, two for the one that
/// cannot be read; preserves errno.
[[nodiscard]] TENURE_API bool is_readable(const void* bytes, std::size_t count) noexcept;

/// Whether an object can be read that others may have destroyed: is_readable(), and no sanitizer has marked its memory
/// as freed.
[[nodiscard]] TENURE_API bool is_object_readable(const void* object, std::size_t bytes) noexcept;

/// The text up to its zero, or `instead` if it is in memory that cannot be read, such as a plug-in that was unloaded.
/// Requires  `text` is not nullptr.
[[nodiscard]] TENURE_API std::string_view text_or(const char* text, std::string_view instead) noexcept;
[[nodiscard]] TENURE_API std::string_view text_or(std::string_view text, std::string_view instead) noexcept;

}
