// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Lets a worker run under `tenure watch`.

#include <string>
#include <string_view>

#include "observe/hook/record/counted.hpp"

namespace tenure::lab {

/// Restarts this process with the hook preloaded, so that it is watched, with marks as regions.
/// Returns   why that is not possible; empty when it is watched. `stacks`: "none", "frames" or "tables".
[[nodiscard]] std::string become_watched(std::string_view stacks);

/// Why there is no hook in this build, as a sentence; empty when there is one.
[[nodiscard]] std::string_view why_not_watched();

/// The counts so far in the regions with this name. Requires  become_watched().
[[nodiscard]] hook::region_counts counted_in(std::string_view region);

/// Removes the recording.
void forget_recording();

}
