// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which allocations the heap profile records: each allocated byte has the same chance, one in the mean, and a block is
/// recorded if one of its bytes is chosen. So a block of s bytes is recorded with the probability 1 - exp(-s / mean),
/// independently of all others (Poisson sampling, as the profilers of tcmalloc and jemalloc do).
///
/// Threads   any.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail::sampling {

constexpr std::uint64_t max_mean_bytes = std::uint64_t{1} << 30;

/// The mean. For debuggers: debug_layout.hpp.
// Relaxed: is_profiling and the number of trims are released after it.
extern constinit atomic<std::uint64_t> mean;

/// Requires  1 <= `bytes` <= max_mean_bytes.
TENURE_API void set_mean(std::uint64_t bytes) noexcept;
[[nodiscard]] TENURE_API std::uint64_t mean_bytes() noexcept;

/// The probability that a block of this size is recorded.
[[nodiscard]] TENURE_API double chance(std::uint64_t bytes) noexcept;
/// Draws whether one block of this size is recorded.
[[nodiscard]] TENURE_API bool draw(std::uint64_t bytes) noexcept;
/// Draws how many blocks of this size come before the next one that is recorded, as many calls of draw() would: a
/// geometric distribution, cut at 2^31: with the largest mean, one draw in e^16 for the smallest class.
/// Requires  `bytes` is not zero.
[[nodiscard]] TENURE_API std::uint32_t draw_gap(std::size_t bytes) noexcept;

// The C library's mathematics is in a library of its own, which the drop-in does not link.

/// 1 - exp(-x) to twelve digits. Requires  x >= 0.
[[nodiscard]] TENURE_API double one_minus_exp(double x) noexcept;
/// -ln(u) to nine digits, for a number u of (0, 1] in units of 2^-64; 2^64 is written as zero.
[[nodiscard]] TENURE_API double minus_log(std::uint64_t u) noexcept;

}
