// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Boost.Pool when its headers are not found: its rows name the package to install.

#include "bench/experiments/library_peers/boost_pool.hpp"

namespace tenure::lab {

namespace {

constexpr contestant missing(std::string_view name) {
    contestant made;
    made.name = name;
    made.role = contestant_role::peer;
    made.peer = boost_pool_name;
    made.kind = "library";
    return made;
}

constexpr std::array<contestant, boost_pool_rows.size()> rows{missing(boost_pool_rows[0]), missing(boost_pool_rows[1]),
                                                              missing(boost_pool_rows[2]), missing(boost_pool_rows[3])};

}

library_peer boost_pool_peer() { return {boost_pool_name, boost_pool_package, {}, false, {}}; }

std::span<const contestant> boost_pool_in_lifetimes() { return std::span{rows}.first(1); }

std::span<const contestant> boost_pool_in_pools() { return rows; }

}
