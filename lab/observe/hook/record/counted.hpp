// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Counts of a marked region, for the watched process itself. A test or an experiment looks the function up by its
/// symbol, which is present when the hook is loaded.

#include <cstddef>
#include <cstdint>

namespace tenure::lab::hook {

struct region_counts {
    std::uint64_t stays = 0; ///< of all threads
    std::uint64_t allocations = 0, allocated_bytes = 0;
    std::uint64_t releases = 0;
    std::uint64_t waits = 0; ///< includes waits inside the C library
    std::uint64_t quick_locks = 0;
};

constexpr const char* counted_symbol = "tenure_watch_counted";

/// Counts everything that happened so far in the marked regions named `name`.
/// Requires  no thread is in such a region.
/// Returns   1, or 0 when there was no such region.
using counted_function = int(const char* name, std::size_t name_bytes, region_counts* to);

}
