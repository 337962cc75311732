// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile as folded stacks, for flame graphs: read by flamegraph.pl, speedscope and others.

#include <string>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

/// A line is `program;outermost function;…;innermost function BYTES`. Stacks with the same text are one line, lines are
/// sorted, and stacks without bytes are left out.
[[nodiscard]] std::string to_folded(const named_profile& profile, profile_value value);

}
