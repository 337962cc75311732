// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names shared by the Loki files, also in builds without it.

#include <array>
#include <string_view>

#include "bench/experiments/library_peers/library_peers.hpp"

namespace tenure::lab {

inline constexpr std::string_view loki_name = "Loki", loki_package = "libloki-dev";
inline constexpr std::array<std::string_view, 2> loki_rows{"Loki::SmallObject", "Loki::SmallObject (locked)"};

}
