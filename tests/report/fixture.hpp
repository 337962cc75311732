// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Results to render: a small one whose every figure is written out, and one of the size of a real run.

#include <cstdint>
#include <string>
#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab::fixture {

inline constexpr contestant_role ours = contestant_role::ours, peer = contestant_role::peer;
inline constexpr contestant_role reference = contestant_role::reference;

/// A contestant that did not run, and why.
[[nodiscard]] contestant_result absent(std::string name, outcome state, std::string reason);

/// Two experiments, three rounds: a failed round, a missing and a failed contestant, a reference, names with letters
/// that HTML, CSV and file systems mind. Every sample is written out, so that expected output can be worked out by
/// hand.
[[nodiscard]] result small_result();

/// Two experiments with a dozen contestants and seven rounds, drawn from the figures that such a machine gives.
[[nodiscard]] result plausible_result();

/// The distances that the article shows for Temp: 818 of 16, one of 140,685,055,869,340, then 28 with a 44 now and
/// then.
[[nodiscard]] std::vector<std::int64_t> article_temp_distances();

}
