// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The memory of this process as the system reports it.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Bytes of this process that are in memory now; zero if the system does not report it.
/// Cost      microseconds: reads a system file.
[[nodiscard]] TENURE_API std::size_t resident_bytes() noexcept;

/// Maximum resident bytes since the process started or reset_peak_resident() last succeeded.
[[nodiscard]] TENURE_API std::size_t peak_resident_bytes() noexcept;

/// A random number that differs in each run of the program: the system draws it for this process.
[[nodiscard]] TENURE_API std::uint64_t random_of_process() noexcept;

/// Bytes of a range that are in memory now. Cost      a system call per 4 MiB, and the kernel's look-ups.
[[nodiscard]] TENURE_API std::size_t resident_bytes_in(const void* range, std::size_t bytes) noexcept;

/// Restarts the peak from the current resident size. Returns whether the system supports it.
TENURE_API bool reset_peak_resident() noexcept;

}
