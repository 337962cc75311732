// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Loki when it is not found: its rows name the package to install.

#include "bench/experiments/library_peers/loki.hpp"

namespace tenure::lab {

namespace {

constexpr contestant missing(std::string_view name) {
    contestant made;
    made.name = name;
    made.role = contestant_role::peer;
    made.peer = loki_name;
    made.kind = "library";
    return made;
}

constexpr std::array<contestant, loki_rows.size()> rows{missing(loki_rows[0]), missing(loki_rows[1])};

}

library_peer loki_peer() { return {loki_name, loki_package, {}, false, {}}; }

std::span<const contestant> loki_in_pools() { return rows; }

}
