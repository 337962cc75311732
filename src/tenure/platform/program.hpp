// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The program that runs in this process, for reports.

#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The last component of the name that it was started with.
[[nodiscard]] TENURE_API std::string_view program_name() noexcept;

/// The process id.
[[nodiscard]] TENURE_API std::uint64_t process_id() noexcept;

/// A copy of standard error for reports at the end of the program: many programs close their own before that.
struct kept_file {
    int number = -1; ///< -1: no file
    std::uint64_t device = 0, inode = 0;
};
[[nodiscard]] TENURE_API kept_file copy_of_standard_error() noexcept;

/// Whether it is still open as the same file. A program may have closed it and reused its number.
[[nodiscard]] TENURE_API bool is_still_open(const kept_file& file) noexcept;

/// Closes the copy, if it is still that. Later texts go to standard error if that is the same file.
TENURE_API void close_copy(kept_file& file) noexcept;

/// Writes the whole text, unless a write fails or the file is no longer open: if the program closed the copy, the text
/// goes to standard error if that is still the same file. A pipe that nobody reads raises no signal. Allocates nothing.
TENURE_API void write_to(const kept_file& file, std::string_view text) noexcept;

/// Calls `function` in a handler of the signal; system calls that it interrupts are restarted, and errno is preserved.
/// Returns   false, and changes nothing, if the signal is handled or ignored already, if a fault, abort() or the C
///           library raises it, or if it cannot be handled.
[[nodiscard]] TENURE_API bool on_signal(int number, void (*function)() noexcept) noexcept;

}
