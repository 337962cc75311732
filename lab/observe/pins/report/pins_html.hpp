// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where resident memory goes, and who keeps it, as one page without scripts or network access, with a map of the heap.

#include <string>

#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/named_profile.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_html(const saved_profile& saved, const named_profile& profile,
                                  const pinned_memory& pinned);

/// The picture alone: the heap's memory in the order of its addresses, a row for 8 MiB or more. Colours say how full it
/// is, or which of the first stacks holds most of what is free there.
[[nodiscard]] std::string heap_map_svg(const saved_profile& saved, const named_profile& profile,
                                       const pinned_memory& pinned);

}
