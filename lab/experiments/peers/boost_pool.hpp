// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Words that the files about Boost.Pool share, those that are built without it as well.

#include <array>
#include <string_view>

#include "experiments/peers/peers.hpp"

namespace tenure::lab {

inline constexpr std::string_view boost_pool_name = "Boost.Pool", boost_pool_package = "libboost-dev";
inline constexpr std::array<std::string_view, 4> boost_pool_rows{
    "boost::pool", "boost::object_pool", "boost::fast_pool_allocator", "boost::fast_pool_allocator (null mutex)"};

}
