// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Status codes for calls that can fail for more than one reason: the same list in C++, C and C#.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// The values equal those of tn_status in tenure.h.
enum class status : std::int32_t {
    ok = 0,
    out_of_memory = 1,    ///< the source or the system has no memory
    invalid_argument = 2, ///< a size, alignment or index is out of range
    stale_handle = 3,     ///< the object was freed, or the handle never named one
    still_held = 4,       ///< acquired and not released
    not_held = 5,         ///< released more often than acquired
    unsupported = 6,      ///< this build, system or heap cannot do it
    file_error = 7,       ///< a file cannot be opened, extended or mapped
    unknown_name = 8,     ///< no such option, tag or key
    already_started = 9,  ///< it runs already: end it first
    not_started = 10,     ///< it has not been started
};

}
