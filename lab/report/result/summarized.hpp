// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Replaces the rounds of a result by what the tables show of them, for files that are kept in a repository. A summary
/// takes at most a quarter of the bytes. The tables of the terminal and of Markdown stay the same.

#include <string>

#include "report/result/result.hpp"

namespace tenure::lab {

/// Why a result has no summary, in one sentence; empty when it has one. A summary names each contestant and each figure
/// once, so both must be unique.
[[nodiscard]] std::string why_not_summarized(const result& found);

/// Numbers get the digits that the tables show, three or more, and distances the digits that keep their order. Texts
/// that only the page shows (what is unfair, proofs, notes, properties) and lists of distances are left out. A summary
/// remains as it is.
/// Requires  why_not_summarized() is empty.
[[nodiscard]] result summarized(const result& found);

}
