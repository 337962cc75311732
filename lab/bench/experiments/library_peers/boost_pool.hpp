// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names shared by the Boost.Pool files, also in builds without it.

#include <array>
#include <string_view>

#include "bench/experiments/library_peers/library_peers.hpp"

namespace tenure::lab {

inline constexpr std::string_view boost_pool_name = "Boost.Pool", boost_pool_package = "libboost-dev";
inline constexpr std::array<std::string_view, 4> boost_pool_rows{
    "boost::pool", "boost::object_pool", "boost::fast_pool_allocator", "boost::fast_pool_allocator (null mutex)"};

}
