// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings as one page without scripts or network access: the processes, and for each region where its time went, its
/// places, and its threads over time.
///
/// The page stays below 2 MB with tens of thousands of waits, and near 3 MB whatever it contains: neighbouring waits
/// share one mark, and only the JSON has all regions and places.

#include <string>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

/// Everything in the findings becomes text in the page, never tags.
[[nodiscard]] std::string to_html(const findings& found);

}
