// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the drop-in has served, for mallinfo and its relatives and for the report at the program's end.
/// Private to this room.

#include <cstddef>

#include <tenure/base/stats.hpp>

namespace tenure::inline TENURE_ABI::dropin {

struct figures {
    allocator_stats all;
    std::size_t huge_count = 0; ///< of blocks in memory of their own
    std::size_t huge_bytes = 0;
    std::size_t kept_bytes = 0; ///< of freed ones
};

/// Cost      O(threads x sizes), with locks.
[[nodiscard]] figures figures_now() noexcept;

/// Bytes that the C library's own heap has in use beside us: what was allocated by names that only it has, or under
/// passthrough.
[[nodiscard]] std::size_t c_library_bytes() noexcept;

}
