// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The frame counter. TempJob blocks and deferred releases age by it.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

class TENURE_API frame_clock {
public:
    /// The number of frames that the process has ended; zero before the first.
    /// Threads   any.
    [[nodiscard]] static std::uint64_t now() noexcept;

    /// Adds one frame and returns the new count. Only next_frame() calls it.
    static std::uint64_t advance() noexcept;
};

}
