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
#include "report/result/result.hpp"

namespace tenure::lab {

/// The names of the experiments below.
inline constexpr std::string_view replay_name = "replay";
inline constexpr std::string_view redirected_name = "advise";

/// Names of figures that advice reads from a result.
inline constexpr std::string_view replay_time = "time per call";
inline constexpr std::string_view replay_first = "first replay";
inline constexpr std::string_view replay_peak = "peak resident";
inline constexpr std::string_view replay_digest = "contents";

/// The step of the clock of single calls, in ns: shorter ones are shown as such.
inline constexpr std::string_view replay_timer_step = "timer step";
/// Variants of the figures of single calls.
inline constexpr std::string_view calls_allocate = "allocate", calls_free = "free", calls_realloc = "realloc";
/// Takes the steps out of a result, and notes the largest as the resolution of the figures of single calls.
void note_timer_step(experiment_result& found);

/// Names of other figures.
inline constexpr std::string_view replay_mean = "resident per live byte, mean";
inline constexpr std::string_view replay_close = "at most 64 B apart";
inline constexpr std::string_view replay_same_page = "in the same 4 KiB page";
inline constexpr std::string_view replay_distance = "median distance";
inline constexpr std::string_view replay_pairs = "pairs";
inline constexpr std::string_view replay_visit = "visit of a pair";
/// Variants of it.
inline constexpr std::string_view visit_in_order = "in order of allocation", visit_shuffled = "in random order";
/// The variant of figures of memory after the last free.
inline constexpr std::string_view later_variant = "after the last free, without a call";

/// Lists by place of the trace. The first three are the experiment's, and the same for every malloc.
inline constexpr std::string_view course_events = "place, events";     ///< events until then
inline constexpr std::string_view course_times = "place, time";        ///< ns
inline constexpr std::string_view course_live = "place, live";         ///< bytes in use, as asked for
inline constexpr std::string_view course_resident = "place, resident"; ///< KiB: the median of the rounds
inline constexpr std::string_view course_fragmentation =
    "place, resident per live byte"; ///< %; no_number where none is live

/// The rows of the experiment "advise".
inline constexpr std::string_view as_recorded = "as recorded";
inline constexpr std::string_view as_advised = "as advised";

/// Parts, by index, of both experiments.
enum replay_part : std::size_t {
    part_time,
    part_calls,
    part_memory,
    part_contents,
    part_threads,
    part_later,
    part_distances,
    part_visits
};

/// "replay": a plan on every malloc. "advise": two plans, of which the second has redirected blocks, on one malloc.
/// Their input is a file of plan/plan_file.hpp with the plans: first the one of one thread, then, for "replay", the one
/// of all threads.
[[nodiscard]] std::span<const experiment> replay_experiments();

/// Whether a command line starts a worker of one of them.
[[nodiscard]] bool is_replay_worker(int argc, char** argv);

}
