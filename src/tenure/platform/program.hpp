// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The program that runs in this process, for reports about it.

#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The last part of the name that it was started by.
[[nodiscard]] TENURE_API std::string_view program_name() noexcept;

/// The number of the process.
[[nodiscard]] TENURE_API std::uint64_t process_id() noexcept;

/// A copy of standard error, for a report at the end: many programs close their own before.
struct kept_file {
    int number = -1; ///< -1: there is none
    std::uint64_t device = 0, inode = 0;
};
[[nodiscard]] TENURE_API kept_file copy_of_standard_error() noexcept;

/// Whether it is still open as the same file: a program may close what it has not opened, and reuse the number.
[[nodiscard]] TENURE_API bool is_still_open(const kept_file& file) noexcept;

/// Writes all of it, unless the file refuses. Allocates nothing.
TENURE_API void write_to(int file, std::string_view text) noexcept;

}
