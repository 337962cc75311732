// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The figures that every allocator answers with, in one shape.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// A snapshot. Where an allocator cannot know a figure without slowing its fast path, its header says so and the
/// figure is the nearest that it does know.
struct allocator_stats {
    std::size_t live_count = 0;     ///< blocks that are allocated now
    std::size_t live_bytes = 0;     ///< their bytes, with what rounding adds
    std::size_t peak_bytes = 0;     ///< the most bytes ever handed out or kept ready at a time
    std::size_t reserved_bytes = 0; ///< taken from the source now: addresses, touched or not
    std::size_t source_blocks = 0;  ///< blocks taken from the source now
};

}
