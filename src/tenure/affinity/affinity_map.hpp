// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which group a piece of the address space belongs to. Private to this room.

#include <tenure/platform/address_map.hpp>

namespace tenure::inline TENURE_ABI::detail {

extern platform::address_map affinity_owners;

}
