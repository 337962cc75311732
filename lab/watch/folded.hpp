// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings as folded stacks, for flame graphs: flamegraph.pl, speedscope and what else reads them.
///
/// A line is `region;outermost function;…;innermost function;what happens VALUE`. Stacks that read the same are one
/// line, lines are sorted, and what costs nothing has none. Where several processes were watched, a region's name says
/// which it is of.

#include <cstdint>
#include <string>

#include "watch/findings.hpp"

namespace tenure::lab {

/// What the values are: how long, in ns, what a site costs (its waits, or the time of an allocation), or how many
/// calls.
enum class folded_value : std::uint8_t { cost_ns, count };

[[nodiscard]] std::string to_folded(const findings& found, folded_value value = folded_value::cost_ns);

}
