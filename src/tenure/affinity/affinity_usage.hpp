// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory usage of an affinity group, for reports: as text and as JSON.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/usage_text.hpp>

namespace tenure::inline TENURE_ABI {

struct affinity_usage {
    std::string_view name;
    std::size_t block_count = 0;
    std::size_t total_bytes = 0;        ///< of all blocks
    std::size_t live_count = 0;         ///< objects, including large ones
    std::size_t reserved_bytes = 0;     ///< used by objects in blocks, including rounding
    std::size_t available_bytes = 0;    ///< in blocks
    std::size_t bookkeeping_bytes = 0;  ///< part of the blocks that never holds objects
    std::size_t largest_free_bytes = 0; ///< longest free run in a page that was used
    std::size_t large_count = 0;        ///< objects on the group's heap
    std::size_t large_bytes = 0;
    /// Free bytes in pages that hold objects, and the part of them outside the longest run of each page.
    std::size_t free_bytes = 0;
    std::size_t scattered_bytes = 0;

    /// The fraction of free memory that is scattered: 0 if each page has its free memory in one run.
    [[nodiscard]] constexpr double fragmentation() const noexcept {
        return free_bytes == 0 ? 0 : static_cast<double>(scattered_bytes) / static_cast<double>(free_bytes);
    }
};

/// Writes the figures in pieces, without allocating: as lines of text, or as one JSON object with the names above.
TENURE_API void write_usage(const affinity_usage& usage, usage_form form,
                            void (*write)(void* context, std::string_view piece), void* context);

}
