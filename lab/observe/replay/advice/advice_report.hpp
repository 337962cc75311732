// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The whole of `tenure advise`: groups, what each could use, and what a replay proves.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "observe/replay/advice/counterfactual.hpp"
#include "observe/replay/affinity/affinity_advice.hpp"

namespace tenure::lab {

/// One group of the report, with exactly one piece of advice.
struct advised_group {
    std::shared_ptr<const block_group> group;
    lifetime_advice advice; ///< leave_alone unless it was proven
    measured_saving saving; ///< of this advice alone; of advice that was not proven too, to show the figures
    std::string reason;     ///< why it is left alone, or why kinds that would fit better were not proven; may be empty
    bool was_measured = false;
};

struct advice_settings {
    replay_settings replay;
    std::uint32_t max_groups = 8; ///< that are looked at
    code_functions functions{};   ///< of the program's code; empty: not known
};

struct advice_report {
    std::vector<advised_group> groups;
    std::uint64_t other_groups = 0,
                  other_blocks = 0; ///< large enough, but not among the first advice_settings::max_groups
    std::uint64_t small_groups = 0, small_blocks = 0; ///< too small for a replay to see what they save
    std::uint64_t events = 0, blocks = 0, allocated_bytes = 0, peak_bytes = 0, frames = 0;
    std::uint64_t unknown_frees = 0; ///< left out
    std::uint32_t threads = 0;
    bool has_stacks = false, has_frames = false;
    std::string damage;          ///< what of the trace could not be read, in a sentence; may be empty
    std::string base;            ///< the malloc of the replays
    replay_settings replay;      ///< as they were used
    std::uint32_t repeats = 0;   ///< of the trace, in a process
    std::size_t comparisons = 0; ///< pairs of a group and a kind that were to be proven
    measured_saving together;    ///< of all proven advice at once, where there is more than one
    bool has_together = false;
    bool is_complete = true;  ///< false: the run was interrupted, and what was not proven until then is no advice
    affinity_report accesses; ///< of a trace that has them
    std::string error;        ///< why there is no report, in a sentence
};

/// Replays many times: minutes for a trace of millions of events.
[[nodiscard]] advice_report advise_on(const trace& recorded, const found_malloc& base, const advice_settings& settings);

}
