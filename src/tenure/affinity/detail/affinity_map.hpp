// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Shared by the files of this room: the map from addresses to groups, and message texts.

#include <string_view>

#include <tenure/platform/address_map.hpp>

namespace tenure::inline TENURE_ABI::detail {

extern platform::address_map affinity_owners;

inline constexpr std::string_view freed_twice = "an object of an affinity group was freed twice, or with another size";
inline constexpr std::string_view freed_twice_advice =
    "Look for a second owner, or for a second thread in a group of one thread; the library built with checks reports "
    "the second free itself.";

}
