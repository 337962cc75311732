// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings as JSON: all of them, for other programs.
///
/// Times are whole nanoseconds (`…_ns`), sizes are bytes, shares are between 0 and 1, and everything else is a count.
/// Kinds, groups and ends are the words of watch_words.hpp. Each function in a stack appears once in `frames`; a
/// `stack` is a list of indices into it, innermost first, and `blamed` is an index into the stack. `where` repeats the
/// blamed frame, for readers that need no stacks. A region's `recording` is the index of its process in `processes`.
/// Timelines are in ns since the process began: a stay is [begin, end], a wait is [begin, end, index into the region's
/// `sites`]. `format` changes when a reader of the previous format would be misled; additions do not change it.

#include <string>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

constexpr int watch_format = 1;

/// Returns   valid JSON with keys in a fixed order. Invalid UTF-8 is replaced, and a number that is not finite becomes
/// null.
[[nodiscard]] std::string to_json(const findings& found);

}
