// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings as JSON: everything that is in them, for whatever reads it afterwards.
///
/// Times are whole nanoseconds (`…_ns`), sizes bytes, everything else counts; shares are between 0 and 1. Kinds, groups
/// and ends are the words of watch_words.hpp. Each function that some stack goes through stands once in `frames`; a
/// `stack` is places in that list, innermost first, and `blamed` is a place in the stack. `where` repeats the blamed
/// frame, for a reader that wants no stacks. A region's `recording` is its process's place in `processes`. Timelines,
/// in ns since the process began: a stay is [begin, end], a wait [begin, end, place in the region's `sites`]. `format`
/// changes when a reader of the one before would be misled; what is only added does not change it.

#include <string>

#include "watch/findings.hpp"

namespace tenure::lab {

constexpr int watch_format = 1;

/// Always valid JSON, with its keys always in the same order: text that is no UTF-8 is replaced, a number that is none
/// becomes null.
[[nodiscard]] std::string to_json(const findings& found);

}
