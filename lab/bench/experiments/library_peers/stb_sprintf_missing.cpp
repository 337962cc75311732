// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// stb_sprintf when it is not found: its row names the package to install.

#include <array>

#include "bench/experiments/library_peers/stb_sprintf.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<contestant, 1> rows{
    {{.name = stb_sprintf_row, .role = contestant_role::peer, .peer = stb_sprintf_name, .kind = "library"}}};

}

library_peer stb_sprintf_peer() { return {stb_sprintf_name, stb_sprintf_package, {}, false, {}}; }

std::span<const contestant> stb_sprintf_in_parallel() { return rows; }

}
