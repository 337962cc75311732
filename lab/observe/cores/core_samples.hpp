// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the heap profile in a core file had recorded: the live samples with their stacks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tenure/base/profile_format.hpp>

#include "observe/cores/core_layout.hpp"

namespace tenure::lab {

struct core_samples {
    bool is_running = false; ///< a profile was being recorded; otherwise all below is empty
    std::uint64_t mean_bytes = 1;
    std::uint64_t lost_samples = 0;
    std::uint64_t latest_ms = 0; ///< when the latest of the live samples was allocated, in milliseconds since 1970
    std::vector<profile_format::site> sites; ///< their estimates of live blocks are set, the others are zero
    std::vector<std::uint64_t> frames;
    std::vector<profile_format::live_sample> live;
};

/// Throws    core_error
[[nodiscard]] core_samples read_samples(const core_layout& layout);

/// "NUMBER NAME\n" for each owner tag.
/// Throws    core_error
[[nodiscard]] std::string read_tag_names(const core_layout& layout);

}
