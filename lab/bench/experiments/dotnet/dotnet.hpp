// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The dotnet experiment: its description, the .NET tool that measures, and the tool's answer.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

extern const experiment dotnet_experiment;

[[nodiscard]] std::span<const contestant> rows_in_dotnet();

/// .NET with the tool jembench, and jemalloc to preload into it; tells whether they exist at the time of the call.
[[nodiscard]] library_peer dotnet_peer();
[[nodiscard]] library_peer dotnet_jemalloc_peer();

/// The command that starts the tool, built in this tree or installed. Empty when it is in neither place or .NET is
/// missing.
[[nodiscard]] std::vector<std::string> find_dotnet_tool();

/// jemalloc's file; empty when it does not exist.
[[nodiscard]] std::string find_dotnet_jemalloc();

/// The option TieredPGO of the .NET process; on by default in every program.
enum class tiered_pgo : std::uint8_t { on, off };

/// Passes the answer of `jembench short` to `out`. An invalid answer, a reported failure, or blocks that are not proven
/// become a failure. Figures without TieredPGO say so in their variants.
void record_dotnet_answer(std::string_view text, tiered_pgo compiler, recorder& out);

}
