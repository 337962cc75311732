// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The line below a table of times that names the versions of the peers.

#include <string>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// "Versions: jemalloc 5.3.0, tcmalloc: gperftools minimal 2.10", for the table's rows that are not ours; empty when
/// none of them has a version.
[[nodiscard]] std::string versions_of(const table& from);

}
