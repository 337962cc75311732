// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Advice on a region or a site, in a sentence or two: what to change, or that there is nothing to change.

#include <string>

namespace tenure::lab {

struct watched_region;
struct watched_site;

[[nodiscard]] std::string advice_for(const watched_region& region);
[[nodiscard]] std::string advice_for(const watched_site& site);

}
