// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Monotonic time.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Nanoseconds since a fixed moment. Cost      about 20 ns.
[[nodiscard]] TENURE_API std::uint64_t monotonic_ns() noexcept;

/// Suspends the calling thread for this time, or less if a signal arrives.
TENURE_API void sleep_ns(std::uint64_t time_ns) noexcept;

/// Processor time that all threads of the process have used. Cost      a system call.
[[nodiscard]] TENURE_API std::uint64_t processor_ns() noexcept;

/// monotonic_ns() as of the kernel's last tick: some milliseconds old. Cost      about 5 ns.
[[nodiscard]] TENURE_API std::uint64_t coarse_ns() noexcept;

/// The processor's counter, of an unknown rate, where a program can read it; elsewhere monotonic_ns(). It may go back
/// by little between threads. Cost      about 8 ns.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_ia32_rdtsc();
#else
    return monotonic_ns();
#endif
}

}
