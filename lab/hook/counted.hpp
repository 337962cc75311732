// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What was counted so far in the marked regions of a name, for the watched process itself: a test or an experiment
/// that wants to know finds the function by its symbol, when the hook is there.

#include <cstddef>
#include <cstdint>

namespace tenure::lab::hook {

struct region_counts {
    std::uint64_t stays = 0; ///< of all threads
    std::uint64_t allocations = 0, allocated_bytes = 0;
    std::uint64_t releases = 0;
    std::uint64_t waits = 0; ///< also those inside the C library
    std::uint64_t quick_locks = 0;
};

constexpr const char* counted_symbol = "tenure_watch_counted";

/// Returns   1, or 0 when there was no such region. Requires  no thread is in one.
using counted_function = int(const char* name, std::size_t name_bytes, region_counts* to);

}
