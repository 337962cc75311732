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

}
