// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the OS pages of the process heap in a core file are used for, by the heap's own records.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tenure/base/profile_format.hpp>

#include "observe/cores/core_layout.hpp"

namespace tenure::lab {

struct core_heap {
    std::vector<profile_format::page_run> pages; ///< of touched pages
    std::vector<profile_format::cached_blocks> cached;
    std::vector<profile_format::size_class> classes; ///< blocks in use
    /// Pages of small blocks whose records contradict themselves: a thread was changing them. They count as free.
    std::size_t unclear_pages = 0;
    bool is_passthrough = false; ///< the heap passes everything on to malloc
};

/// Requires  core.find_touched() was called.
/// Throws    core_error
[[nodiscard]] core_heap read_process_heap(const core_layout& layout);

/// Bytes that the process heap has reserved.
[[nodiscard]] std::uint64_t reserved_bytes_of(const core_layout& layout);

}
