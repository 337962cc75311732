// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The thread and the return addresses of one call, for reports.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/fault.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct call_trace {
    static constexpr std::size_t max_frames = 16;

    std::uint64_t thread;
    std::size_t count; ///< of frames
    void* frames[max_frames];

    /// Safe on any stack, also where its bottom is not a return address: see host::walk_stack().
    /// Cost      microseconds. Call it without a lock: it may wait for the loader, and the loader allocates.
    void capture() noexcept;
    /// The stack of an access that faulted.
    void capture(const platform::fault& what) noexcept;
    /// Writes "tenure: `title` by thread 17 at", then a line per frame, to standard error.
    void write(const char* title) const noexcept;
};

}
