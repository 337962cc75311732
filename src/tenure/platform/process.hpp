// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The process as the system sees it: how much of it is in memory.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Bytes of this process that are in memory now; zero when the system does not say.
/// Cost      microseconds: it reads a file of the system's.
[[nodiscard]] TENURE_API std::size_t resident_bytes() noexcept;

/// The most that was in memory since the process began or reset_peak_resident() last worked.
[[nodiscard]] TENURE_API std::size_t peak_resident_bytes() noexcept;

/// A number that another run of the program does not have: the system's own draw for this process.
[[nodiscard]] TENURE_API std::uint64_t random_of_process() noexcept;

/// What of a range is in memory now. Cost      a system call per 4 MiB, and what the kernel looks up.
[[nodiscard]] TENURE_API std::size_t resident_bytes_in(const void* range, std::size_t bytes) noexcept;

/// Starts the peak anew from what is resident now. Returns whether the system allows it.
TENURE_API bool reset_peak_resident() noexcept;

}
