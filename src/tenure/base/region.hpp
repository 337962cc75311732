// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Marks in a program's course: regions with a name, and moments, for whoever observes the process.
///
/// Use it for     telling `tenure watch` what the program is doing while it allocates and waits: a frame's parts, the
///                parallel loop, the level that is loaded.
/// Cost           an add, a load and a test of thread-local state at each end; a call where somebody observes.
/// Names          UTF-8, read during the call: an observer copies up to 63 bytes of one that is new to it. Best are
///                literals, by whose address it may know them again.
/// Threads        a region is its thread's: it begins and ends there. Regions nest.
/// Example        examples/no_alloc.cpp

#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/observed.hpp>

namespace tenure::inline TENURE_ABI {

/// What the calling thread does while it lives is done in the region of that name.
class [[nodiscard]] region_scope {
public:
    TENURE_LOCAL explicit region_scope(std::string_view name) noexcept {
        detail::begin_observed(detail::this_thread_scopes.regions, detail::observed::region_begin, name);
    }
    TENURE_LOCAL ~region_scope() {
        detail::end_observed(detail::this_thread_scopes.regions, detail::observed::region_end);
    }
    region_scope(const region_scope&) = delete;
    region_scope& operator=(const region_scope&) = delete;
};

/// A moment with a name: "level loaded".
TENURE_LOCAL inline void mark(std::string_view name) noexcept { detail::tell(detail::observed::mark, name); }

}
