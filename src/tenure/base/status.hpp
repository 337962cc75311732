// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Why a call did not do what was asked, where there is more than one reason: the same list in C++, C and C#.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// The values are those of tn_status in tenure.h.
enum class status : std::int32_t {
    ok = 0,
    out_of_memory = 1,    ///< the source or the system refused
    invalid_argument = 2, ///< a size, alignment or index out of its range
    stale_handle = 3,     ///< what it stood for was freed, or it never stood for anything
    still_held = 4,       ///< somebody has acquired it and not released it
    not_held = 5,         ///< released more often than acquired
    unsupported = 6,      ///< this build, system or heap cannot do it
    file_error = 7,       ///< a file cannot be opened, made larger or mapped
    unknown_name = 8,     ///< no option, tag or key is called so
};

}
