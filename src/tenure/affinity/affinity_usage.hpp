// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an affinity group holds, in figures: for reports, for people and as JSON.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/usage_text.hpp>

namespace tenure::inline TENURE_ABI {

/// What a group holds, in figures.
struct affinity_usage {
    std::string_view name;
    std::size_t block_count = 0;
    std::size_t total_bytes = 0;        ///< of its blocks
    std::size_t live_count = 0;         ///< objects, large ones among them
    std::size_t reserved_bytes = 0;     ///< in use by objects in blocks, with what rounding adds
    std::size_t available_bytes = 0;    ///< in blocks, for objects to come
    std::size_t bookkeeping_bytes = 0;  ///< of blocks, the part that never holds objects
    std::size_t largest_free_bytes = 0; ///< the longest run of free memory in a page that was used
    std::size_t large_count = 0;        ///< objects on the group's heap
    std::size_t large_bytes = 0;
    /// Free bytes of pages that objects are in, and of them those outside the longest run of their page.
    std::size_t free_bytes = 0;
    std::size_t scattered_bytes = 0;

    /// The part of the free memory that is scattered: 0 when each page has it in one piece.
    [[nodiscard]] constexpr double fragmentation() const noexcept {
        return free_bytes == 0 ? 0 : static_cast<double>(scattered_bytes) / static_cast<double>(free_bytes);
    }
};

/// Writes the figures, in pieces, without allocating: lines for people, or one object of JSON with the names above.
TENURE_API void write_usage(const affinity_usage& usage, usage_form form,
                            void (*write)(void* context, std::string_view piece), void* context);

}
