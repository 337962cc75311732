// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Words that the files about Loki share, those that are built without it as well.

#include <array>
#include <string_view>

#include "experiments/peers/peers.hpp"

namespace tenure::lab {

inline constexpr std::string_view loki_name = "Loki", loki_package = "libloki-dev";
inline constexpr std::array<std::string_view, 2> loki_rows{"Loki::SmallObject", "Loki::SmallObject (locked)"};

}
