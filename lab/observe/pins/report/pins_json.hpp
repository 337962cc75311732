// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where resident memory goes, and who keeps it, as JSON for scripts.

#include <string>

#include "observe/pins/memory_course.hpp"
#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

/// With more than one moment in `course`, `over_time` has them.
[[nodiscard]] std::string to_json(const named_profile& profile, const pinned_memory& pinned,
                                  const memory_course& course = {});

}
