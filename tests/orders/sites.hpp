// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The places in the source that order memory: which an exploration has used, and which it is to weaken.

#include <atomic>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include "orders/explorer.hpp"

namespace orders {

struct site_entry {
    std::string where; ///< function, kind and place
    std::string name;  ///< function and kind
    std::memory_order written = std::memory_order_relaxed;
    std::memory_order order = std::memory_order_relaxed; ///< as explored
    bool is_used = false;
};

/// The entry stays where it is.
[[nodiscard]] const site_entry& site_of(const std::source_location& from, const char* kind, std::memory_order order);
/// From now on. Forgets which were used.
void weaken_sites(const std::vector<weakening>& all);
[[nodiscard]] std::set<site> used_sites();
[[nodiscard]] const char* name_of(std::memory_order order);

}
