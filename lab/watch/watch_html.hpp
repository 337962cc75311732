// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings as one page that needs neither script nor network: processes, and for each region where its time went, its
/// places, and its threads over time.
///
/// The page stays below 2 MB with tens of thousands of waits, and near 3 MB whatever is in it: waits that lie close
/// together are one mark, regions and places past the first dozens are in the JSON.

#include <string>

#include "watch/findings.hpp"

namespace tenure::lab {

/// Whatever the findings hold is text in it, never tags.
[[nodiscard]] std::string to_html(const findings& found);

}
