// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The article's third scheme, which no package provides: listed as missing, never replaced by an imitation.

#include <array>

#include "bench/experiments/library_peers/library_peers.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view name = "HPHA";

constexpr contestant missing_row() {
    contestant made;
    made.name = name;
    made.role = contestant_role::peer;
    made.peer = name;
    made.kind = "library";
    return made;
}

constexpr std::array<contestant, 1> rows{missing_row()};

}

library_peer hpha_peer() {
    return {name,
            {},
            {},
            false,
            "no package has the High Performance Heap Allocator; O3DE contains a descendant of "
            "it"};
}

std::span<const contestant> hpha_in_pools() { return rows; }

}
