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

/// A copy of standard error, for a report at the end: many programs close their own before. -1 when there is none.
[[nodiscard]] TENURE_API int copy_of_standard_error() noexcept;

/// Writes all of it, unless the file refuses. Allocates nothing.
TENURE_API void write_to(int file, std::string_view text) noexcept;

}
