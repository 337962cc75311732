// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Replay as experiments of the bench's harness: fresh processes, rounds in random order, proof of the allocator.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

/// The names of the experiments below.
inline constexpr std::string_view replay_name = "replay";
inline constexpr std::string_view redirected_name = "advise";

/// Names of figures that advice reads from a result.
inline constexpr std::string_view replay_time = "time per call";
inline constexpr std::string_view replay_first = "first replay";
inline constexpr std::string_view replay_peak = "peak resident";
inline constexpr std::string_view replay_digest = "contents";

/// The rows of the experiment "advise".
inline constexpr std::string_view as_recorded = "as recorded";
inline constexpr std::string_view as_advised = "as advised";

/// Parts, by index, of both experiments.
enum replay_part : std::size_t { part_time, part_calls, part_memory, part_contents, part_threads };

/// "replay": a plan on every malloc. "advise": two plans, of which the second has redirected blocks, on one malloc.
/// Their input is a file of plan/plan_file.hpp with the plans: first the one of one thread, then, for "replay", the one
/// of all threads.
[[nodiscard]] std::span<const experiment> replay_experiments();

/// Whether a command line starts a worker of one of them.
[[nodiscard]] bool is_replay_worker(int argc, char** argv);

}
