// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The statistics that every allocator returns.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// A snapshot. If a value would slow the fast path, an allocator returns the nearest one; its header says so.
struct allocator_stats {
    std::size_t live_count = 0;     ///< allocated blocks
    std::size_t live_bytes = 0;     ///< their bytes, including rounding
    std::size_t peak_bytes = 0;     ///< maximum bytes ever allocated or ready for allocation at one time
    std::size_t reserved_bytes = 0; ///< acquired from the source: addresses, touched or not
    std::size_t source_blocks = 0;  ///< blocks acquired from the source
};

}
