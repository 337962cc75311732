// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where resident memory goes, and who keeps it, as one page without scripts or network access, with a map of the heap.

#include <string>
#include <vector>

#include "observe/pins/memory_course.hpp"
#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/named_profile.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

/// With more than one moment in `course`, the page begins with them: the parts of the memory over time, and a map for
/// each moment that has one.
[[nodiscard]] std::string to_html(const saved_profile& saved, const named_profile& profile, const pinned_memory& pinned,
                                  const memory_course& course = {});

/// The picture alone: the heap's memory in the order of its addresses, a row for 8 MiB or more. Colours say how full it
/// is, or which of the coloured stacks holds most of what is free there.
[[nodiscard]] std::string heap_map_svg(const saved_profile& saved, const named_profile& profile,
                                       const std::vector<std::string>& coloured);

/// The stacks that have a colour in all maps of a page: the first ones, each as a text that another profile of the
/// process has for the same stack.
[[nodiscard]] std::vector<std::string> coloured_stacks_of(const named_profile& profile, const pinned_memory& pinned);

}
