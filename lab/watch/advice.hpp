// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One sentence: what to do about a region, or that there is nothing to do.

#include <string>

namespace tenure::lab {

struct watched_region;
struct watched_site;

[[nodiscard]] std::string advice_for(const watched_region& region);
[[nodiscard]] std::string advice_for(const watched_site& site);

}
