// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings as folded stacks, for flame graphs: read by flamegraph.pl, speedscope and others.
///
/// A line is `region;outermost function;…;innermost function;what happens VALUE`. Stacks with the same text are one
/// line, lines are sorted, and stacks without cost are left out. When several processes were watched, a region's name
/// includes its process.

#include <cstdint>
#include <string>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

/// The values: the cost of a site in ns (its waits, or the time of an allocation), or its number of calls.
enum class folded_value : std::uint8_t { cost_ns, count };

[[nodiscard]] std::string to_folded(const findings& found, folded_value value = folded_value::cost_ns);

}
