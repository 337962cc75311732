// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Time that only goes forward.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Nanoseconds since some fixed moment. Cost      about 20 ns.
[[nodiscard]] TENURE_API std::uint64_t monotonic_ns() noexcept;

/// Lets the calling thread wait so long, or less when a signal comes.
TENURE_API void sleep_ns(std::uint64_t time_ns) noexcept;

/// monotonic_ns() as of the kernel's last tick: some milliseconds behind. Cost      about 5 ns.
[[nodiscard]] TENURE_API std::uint64_t coarse_ns() noexcept;

}
