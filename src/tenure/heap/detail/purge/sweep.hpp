// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A sweep of a heap: which free memory it returns to the source, and what it found.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Which free memory a sweep returns.
struct sweep_scope {
    /// Returns pieces down to one OS page, also between blocks in use. Each piece costs a system call, so only the
    /// background thread does it; a caller returns whole pages, and runs of 64 KiB.
    bool is_thorough = false;
    /// Returns memory however short it has been free: the system is running short.
    bool is_urgent = false;
};

struct sweep_result {
    std::size_t returned_bytes = 0;
    std::size_t young_bytes = 0; ///< memory that may be free, but changed since the previous sweep
};

/// How long a sweep leaves a lock to threads that wait for it: it would overtake them while they wake up.
constexpr std::uint64_t pause_for_waiters_ns = 50'000;

/// Memory that was free in one sweep and still is in the next is returned. Sweeps come twice per purge delay.
constexpr std::uint16_t sweeps_per_delay = 2;

}
