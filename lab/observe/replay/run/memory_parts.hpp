// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parts of a replay that are about memory: how much a malloc needs, when it returns it, and where its blocks lie.
/// Each has a process of its own, and none is timed.

#include <cstdint>
#include <span>

#include "bench/harness/experiment.hpp"
#include "observe/replay/plan/plan_file.hpp"

namespace tenure::lab {

/// Resident memory at each place of the trace, at the worst of them, and after everything was freed.
void measure_memory(const task& asked, const plan_view& plan);

/// What stays resident while nobody calls the malloc: read until `--wait` seconds after the last free.
void measure_later(const task& asked, const plan_view& plan);

/// How far blocks lie apart that are probably used together: see plan/neighbours.hpp.
void measure_distances(const task& asked, const plan_view& plan);

/// How long it takes to read the first word of both blocks of each pair of plan_view::neighbours, when the trace has
/// most bytes in use.
void measure_visits(const task& asked, const plan_view& plan);

/// Resident bytes per live byte over the trace: the area under `resident` divided by the area under the live bytes of
/// `places`. A value holds until the next place. Where the trace has no time, events are the time.
/// Returns   NaN when nothing was live.
[[nodiscard]] double mean_resident_per_live(std::span<const plan_place> places,
                                            std::span<const std::int64_t> resident_bytes);

/// Bytes between the end of one block and the begin of the other.
[[nodiscard]] constexpr std::uint64_t bytes_between(std::uintptr_t one, std::uint64_t one_bytes, std::uintptr_t other,
                                                    std::uint64_t other_bytes) {
    if (other >= one + one_bytes) return other - (one + one_bytes);
    return one >= other + other_bytes ? one - (other + other_bytes) : 0;
}

}
