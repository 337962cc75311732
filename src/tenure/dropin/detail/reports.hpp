// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a signal asks for that interrupted a holder of the heap's locks: the next slow call of any thread writes it.

#include <atomic>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::dropin {

enum wanted : std::uint8_t { statistics = 1, heap_profile_file = 2 };
/// A set of the above, by the signal handlers.
extern std::atomic<std::uint8_t> wanted_reports;

/// Writes what is wanted, unless another thread does.
TENURE_COLD void write_wanted_reports() noexcept;
/// Saves the heap profile, and starts one if none is being recorded. Requires  heap_profile_events::may_save().
TENURE_COLD void save_profile() noexcept;

/// Called at the end of slow calls, when the thread holds no lock.
TENURE_ALWAYS_INLINE void serve_wanted_report() noexcept {
    if (wanted_reports.load(std::memory_order_relaxed) != 0) [[unlikely]]
        write_wanted_reports();
}

}
