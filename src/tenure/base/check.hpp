// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checks, enabled by the build's check level. A failed check reports what happened, where, and what to do.

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI {

/// The check level that the library was built with: 0 none, 1 the caller's mistakes, 2 the library's invariants, 3
/// whole structures. A program links one level; a plug-in with a copy of its own may have another.
[[nodiscard]] TENURE_API int check_level() noexcept;

/// Reports a mistake of the caller: what happened, the pointer concerned (nullptr: none), and what to do.
/// Returns   only if an installed report handler returns.
TENURE_API TENURE_COLD void report_misuse(std::string_view what, const void* pointer, std::string_view advice) noexcept;

/// Reports an alignment that is not a power of two, in a request to a part of the library ("Temp"). The request returns
/// nullptr, which looks like out of memory.
TENURE_API TENURE_COLD void report_alignment(std::string_view part, std::size_t alignment) noexcept;

/// Reports it at level 1; costs nothing below.
constexpr void check_alignment(std::string_view part, std::size_t alignment) noexcept {
    if constexpr (checks::caller) {
        if (!is_power_of_two(alignment)) report_alignment(part, alignment);
    }
}

/// Reports an argument that a call refuses: its name, its value, and what is allowed, a sentence. The call returns
/// nullptr or false, which looks like out of memory.
TENURE_API TENURE_COLD void report_argument(std::string_view call, std::string_view argument, std::uint64_t value,
                                            std::string_view allowed) noexcept;

/// Reports a broken internal invariant.
TENURE_API TENURE_COLD void report_broken(std::string_view what, const void* pointer) noexcept;

/// Checks an internal invariant at level 2 and above; costs nothing below.
constexpr void check_invariant(bool holds, std::string_view what, const void* pointer = nullptr) noexcept {
    if constexpr (checks::invariants) {
        if (!holds) report_broken(what, pointer);
    }
}

}
