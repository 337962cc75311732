// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checks that stay in the build that asked for them: what, where and what to do next, then the report handler.

#include <tenure/base/config.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI {

/// Reports a mistake of the caller's: `what` happened to `pointer`, when it is not null, and `advice` on what to do.
/// Returns   only when a report handler that returns is installed.
TENURE_API TENURE_COLD void report_misuse(std::string_view what, const void* pointer, std::string_view advice) noexcept;

/// Reports a broken invariant of our own.
TENURE_API TENURE_COLD void report_broken(std::string_view what, const void* pointer) noexcept;

/// Checks one of our invariants at level 2 and above; costs nothing below.
constexpr void check_invariant(bool holds, std::string_view what, const void* pointer = nullptr) noexcept {
    if constexpr (checks::invariants) {
        if (!holds) report_broken(what, pointer);
    }
}

}
