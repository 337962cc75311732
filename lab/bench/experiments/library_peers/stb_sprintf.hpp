// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names shared by the stb_sprintf files, also in builds without it.

#include <string_view>

#include "bench/experiments/library_peers/library_peers.hpp"

namespace tenure::lab {

inline constexpr std::string_view stb_sprintf_name = "stb_sprintf", stb_sprintf_package = "libstb-dev";
inline constexpr std::string_view stb_sprintf_row = "stbsp_snprintf";

}
