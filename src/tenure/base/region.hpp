// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Named regions and marks that show an observer of the process what the program is doing.
///
/// Use it for     naming what the program does while it allocates and waits, for `tenure watch`: a part of a frame, a
///                parallel loop, the loading of a level.
/// Cost           an add, a load and a test of thread-local state at each end; plus a call if an observer is present.
/// Names          UTF-8, read during the call: an observer copies up to 63 bytes of each new name. Prefer literals: an
///                observer may recognise them by their address.
/// Threads        a region belongs to its thread: it begins and ends there. Regions nest.
/// Example        examples/no_alloc.cpp

#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/observed.hpp>

namespace tenure::inline TENURE_ABI {

/// While it exists, the calling thread is in the region with this name.
class [[nodiscard]] region_scope {
public:
    [[nodiscard]] TENURE_LOCAL explicit region_scope(std::string_view name) noexcept {
        detail::begin_observed(detail::this_thread_scopes().regions, detail::observed::region_begin, name);
    }
    TENURE_LOCAL ~region_scope() {
        detail::end_observed(detail::this_thread_scopes().regions, detail::observed::region_end);
    }
    region_scope(const region_scope&) = delete;
    region_scope& operator=(const region_scope&) = delete;
};

/// Marks a named moment: "level loaded".
TENURE_LOCAL inline void mark(std::string_view name) noexcept { detail::tell(detail::observed::mark, name); }

}
