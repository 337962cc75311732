// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checks, enabled by the build's check level. A failed check reports what happened, where, and what to do.

#include <tenure/base/config.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI {

/// Reports a mistake of the caller: what happened, the pointer concerned (nullptr: none), and what to do.
/// Returns   only if an installed report handler returns.
TENURE_API TENURE_COLD void report_misuse(std::string_view what, const void* pointer, std::string_view advice) noexcept;

/// Reports an alignment that is not a power of two, in a request to a part of the library ("Temp"). The request returns
/// nullptr, which looks like out of memory.
TENURE_API TENURE_COLD void report_alignment(std::string_view part, std::size_t alignment) noexcept;

/// Reports a broken internal invariant.
TENURE_API TENURE_COLD void report_broken(std::string_view what, const void* pointer) noexcept;

/// Checks an internal invariant at level 2 and above; costs nothing below.
constexpr void check_invariant(bool holds, std::string_view what, const void* pointer = nullptr) noexcept {
    if constexpr (checks::invariants) {
        if (!holds) report_broken(what, pointer);
    }
}

}
