// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Replaces the rounds of a result by what the tables show of them. A summary is a fifth of the size, and the
/// terminal's and Markdown's tables are the same.

#include <string>

#include "report/result.hpp"

namespace tenure::lab {

/// Why a result has no summary, in one sentence; empty when it has one. A summary names each contestant and each figure
/// once, so both must be unique.
[[nodiscard]] std::string why_not_summarized(const result& found);

/// Numbers get the digits that the tables show, three or more; distances that decide an order stay exact. Texts that
/// only the page shows (what is unfair, proofs, notes, properties) and lists of distances are left out. A summary
/// remains as it is.
/// Requires  why_not_summarized() is empty.
[[nodiscard]] result summarized(const result& found);

}
