// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// TempJob's counters, which its fast paths do not touch.

#include <atomic>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct job_counters {
    // Counters: relaxed, nothing else is read by them.
    std::atomic<std::uint64_t> overflow_count{0};
    std::atomic<std::uint64_t> overflow_bytes{0};
    std::atomic<std::uint64_t> leaked_count{0};
};
extern constinit job_counters job_seen;

}
