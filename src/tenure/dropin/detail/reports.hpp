// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the next slow call of any thread does: what a signal asks for that interrupted a holder of the heap's locks,
/// and what another process asks for.

#include <atomic>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/platform/probe.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// What platform's tenure_requests may contain. `tenure profile --attach` and `tenure pins --attach` write it as well:
/// the numbers stay.
enum wanted : std::uint16_t {
    statistics = 1,
    heap_profile_file = 2,
    heap_profile_end = 4,
    heap_profile_pages = 8, ///< the file has them
};
[[nodiscard]] TENURE_ALWAYS_INLINE std::atomic_ref<std::uint16_t> wanted_reports() noexcept {
    return std::atomic_ref(tenure_requests);
}

/// Writes what is wanted, unless another thread does.
TENURE_COLD void write_wanted_reports() noexcept;
/// Saves the heap profile, with these contents at least: option profile_pages may ask for more. Starts one if none is
/// being recorded. Requires  heap_profile_events::may_save().
TENURE_COLD void save_profile(profile_contents least = profile_contents::stacks) noexcept;

/// Whether a heap profile is recorded for tracers outside the process: see platform/probe.hpp.
// Relaxed: the exchange elects who starts or ends the profile, which has a lock.
extern std::atomic<bool> is_profiled_for_listeners;
/// Starts the profile for them, or ends it when the last one has gone. A profile that somebody else has started stays.
TENURE_COLD void follow_listeners() noexcept;

/// Whether serve_wanted_report() would do something.
[[nodiscard]] TENURE_ALWAYS_INLINE bool is_report_wanted() noexcept {
    return wanted_reports().load(std::memory_order_relaxed) != 0 ||
           platform::has_listeners() != is_profiled_for_listeners.load(std::memory_order_relaxed);
}

/// Called at the end of slow calls, when the thread holds no lock.
TENURE_ALWAYS_INLINE void serve_wanted_report() noexcept {
    if (wanted_reports().load(std::memory_order_relaxed) != 0) [[unlikely]]
        write_wanted_reports();
    if (platform::has_listeners() != is_profiled_for_listeners.load(std::memory_order_relaxed)) [[unlikely]]
        follow_listeners();
}

}
