// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Stand-ins for the macros of Tracy's C interface that examples/hooks_tracy.cpp uses, where Tracy is not installed.

#include <cstddef>
#include <cstdint>

namespace stand_in {

struct zone {
    std::uint32_t number;
};

zone begin_zone(const char* name);
void name_zone(zone which, const char* text, std::size_t bytes);
void set_value_of_zone(zone which, std::uint64_t value);
void end_zone(zone which);

}

using TracyCZoneCtx = stand_in::zone;

#define TracyCZoneN(context, name, active) const TracyCZoneCtx context = stand_in::begin_zone(name)
#define TracyCZoneName(context, text, bytes) stand_in::name_zone(context, text, bytes)
#define TracyCZoneValue(context, value) stand_in::set_value_of_zone(context, value)
#define TracyCZoneEnd(context) stand_in::end_zone(context)
