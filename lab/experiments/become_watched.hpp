// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A worker that wants `tenure watch` to look at it.

#include <string>
#include <string_view>

#include "hook/counted.hpp"

namespace tenure::lab {

/// Makes this process one that is watched, with marks for regions: it becomes itself once more, with the hook before
/// it. Returns   why that is not possible; empty: it is watched. `stacks`: "none", "frames" or "tables".
[[nodiscard]] std::string become_watched(std::string_view stacks);

/// A sentence when there is no hook to be watched by; empty when there is.
[[nodiscard]] std::string_view why_not_watched();

/// What was counted in the regions of a name so far. Requires  become_watched().
[[nodiscard]] hook::region_counts counted_in(std::string_view region);

/// The recording is not needed any more.
void forget_recording();

}
