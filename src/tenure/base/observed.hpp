// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's open scopes (no_alloc.hpp, no_wait.hpp, region.hpp), and how the process's observer learns of them and of
/// frames.
/// Private: programs include those headers.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Whether this thread's scopes have an observer. Looked up once, at the thread's first scope.
enum class hearing : std::uint8_t { unknown, nobody, somebody };

/// Thread-local state. No other thread touches it.
struct thread_scopes {
    std::uint32_t promises = 0;    ///< open no_alloc_scopes
    std::uint32_t permissions = 0; ///< open allow_alloc_scopes, and the library's internal work
    std::uint32_t regions = 0;
    hearing heard = hearing::unknown;
    std::uint32_t no_waits = 0; ///< open no_wait_scopes
};
static_assert(sizeof(thread_scopes) == 20);

TENURE_DECLARE_THREAD_LOCAL(thread_scopes, this_thread_scopes)

/// Events that an observer receives: the functions of tenure_observer_table, in its order.
enum class observed : std::uint8_t {
    region_begin,
    region_end,
    no_alloc_begin,
    no_alloc_end,
    allow_alloc_begin,
    allow_alloc_end,
    mark,
    no_wait_begin,
    no_wait_end,
    frame_end,
};

/// Notifies the observer; looks for one at the thread's first scope.
TENURE_API void tell_observer(observed what, std::string_view name) noexcept;

/// In checked builds, reports an end without a begin on this thread.
TENURE_API TENURE_COLD void report_unbalanced(observed what) noexcept;

TENURE_LOCAL inline void tell(observed what, std::string_view name = {}) noexcept {
    if (this_thread_scopes().heard != hearing::nobody) [[unlikely]]
        tell_observer(what, name);
}

TENURE_LOCAL inline void begin_observed(std::uint32_t& depth, observed what, std::string_view name = {}) noexcept {
    ++depth;
    tell(what, name);
}

/// Reports an end without a begin in checked builds; otherwise ignores it.
TENURE_LOCAL inline void end_observed(std::uint32_t& depth, observed what) noexcept {
    if (depth == 0) [[unlikely]]
        return report_unbalanced(what);
    --depth;
    tell(what);
}

}
