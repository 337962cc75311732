// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Statistics of the drop-in, for mallinfo and its relatives and for the report at exit.

#include <cstddef>
#include <cstdint>

#include <tenure/base/stats.hpp>

namespace tenure::inline TENURE_ABI::dropin {

struct figures {
    allocator_stats all;
    std::size_t huge_count = 0; ///< blocks with their own memory
    std::size_t huge_bytes = 0;
    std::size_t retained_bytes = 0; ///< freed huge blocks that are retained
};

/// Cost      O(threads x sizes), with locks.
[[nodiscard]] figures figures_now() noexcept;

constexpr std::size_t unknown_bytes = SIZE_MAX;
/// Bytes in use in the C library's own heap: allocated by names that only the C library has, or under passthrough.
/// unknown_bytes where that heap is not the program's alone.
[[nodiscard]] std::size_t c_library_bytes() noexcept;

}
