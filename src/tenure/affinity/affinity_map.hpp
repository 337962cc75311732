// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the files of this room share: which group a piece of the address space belongs to, and words of reports.
/// Private to this room.

#include <string_view>

#include <tenure/platform/address_map.hpp>

namespace tenure::inline TENURE_ABI::detail {

extern platform::address_map affinity_owners;

inline constexpr std::string_view freed_twice = "an object of an affinity group was freed twice, or with another size";
inline constexpr std::string_view freed_twice_advice =
    "Look for a second owner, or a second thread in a group of one; the library built with checks reports an owner's "
    "second free itself.";

}
