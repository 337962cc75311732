// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The dotnet experiment: its description, the .NET tool that measures, and what the tool answers.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/experiment.hpp"

namespace tenure::lab {

extern const experiment dotnet_experiment;

[[nodiscard]] std::span<const contestant> rows_in_dotnet();

/// .NET with the tool jembench, and jemalloc to be preloaded into it: there or not when this is called.
[[nodiscard]] library_peer dotnet_peer();
[[nodiscard]] library_peer dotnet_jemalloc_peer();

/// How the tool is started: built in this tree, or installed. Empty when it is in neither place, or .NET is not there.
[[nodiscard]] std::vector<std::string> find_dotnet_tool();

/// jemalloc's file; empty when it is not there.
[[nodiscard]] std::string find_dotnet_jemalloc();

/// The option TieredPGO of the .NET process: on, as every program has it that does not say otherwise.
enum class tiered_pgo : std::uint8_t { on, off };

/// Hands what `jembench short` wrote to `out`; what is no answer, says that something failed, or proves none of its
/// blocks, becomes a failure. Figures without TieredPGO say so in their variants.
void record_dotnet_answer(std::string_view text, tiered_pgo compiler, recorder& out);

}
