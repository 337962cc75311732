// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a thread keeps of its promises not to allocate and of its regions, and how an observer of the process is told
/// of them. Private: no_alloc.hpp and region.hpp are what a program includes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Whether somebody hears what this thread's scopes say: asked for once, at the thread's first scope.
enum class hearing : std::uint8_t { unknown, nobody, somebody };

/// Thread-local state, never touched by another thread.
struct thread_scopes {
    std::uint32_t promises = 0;    ///< no_alloc_scopes that are open
    std::uint32_t permissions = 0; ///< allow_alloc_scopes that are open, and what the library does for itself
    std::uint32_t regions = 0;
    hearing heard = hearing::unknown;
};
static_assert(sizeof(thread_scopes) == 16);

extern TENURE_API TENURE_THREAD_LOCAL thread_scopes this_thread_scopes TENURE_TLS_MODEL;

/// What an observer is told: the functions of tenure_observer_table, in its order.
enum class observed : std::uint8_t {
    region_begin,
    region_end,
    no_alloc_begin,
    no_alloc_end,
    allow_alloc_begin,
    allow_alloc_end,
    mark,
};

/// Tells the observer, and looks for one at the thread's first scope.
TENURE_API void tell_observer(observed what, std::string_view name) noexcept;

/// Reports, in checked builds, an end without a begin on this thread.
TENURE_API TENURE_COLD void report_unbalanced(observed what) noexcept;

TENURE_LOCAL inline void tell(observed what, std::string_view name = {}) noexcept {
    if (this_thread_scopes.heard != hearing::nobody) [[unlikely]]
        tell_observer(what, name);
}

TENURE_LOCAL inline void begin_observed(std::uint32_t& depth, observed what, std::string_view name = {}) noexcept {
    ++depth;
    tell(what, name);
}

/// An end without a begin is reported in checked builds, and otherwise does nothing.
TENURE_LOCAL inline void end_observed(std::uint32_t& depth, observed what) noexcept {
    if (depth == 0) [[unlikely]]
        return report_unbalanced(what);
    --depth;
    tell(what);
}

}
