// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The count of frames: TempJob's blocks and deferred releases age by it.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

class TENURE_API frame_clock {
public:
    /// How often the process has ended a frame; zero before the first.
    /// Threads   any.
    [[nodiscard]] static std::uint64_t now() noexcept;

    /// Counts one frame more and returns the new count. Called by next_frame() alone.
    static std::uint64_t advance() noexcept;
};

}
