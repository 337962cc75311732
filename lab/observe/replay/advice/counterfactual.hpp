// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Proves advice: replays the trace with the groups' blocks in Tenure's memory, against a replay as it was recorded.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "observe/replay/advice/lifetime_advice.hpp"
#include "observe/replay/plan/replay_plan.hpp"
#include "observe/replay/run/touch.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// A group, and the memory that it would use.
struct redirected_group {
    const block_group* group;
    lifetime_advice advice;
};

/// Where the blocks of a trace go when the program follows the advice.
[[nodiscard]] block_routes routes_for(const trace& recorded, std::span<const redirected_group> groups);

/// The chance that an interval of 95 % misses the true median.
inline constexpr double usual_chance = 0.05;

/// An estimate with its interval: the median of paired rounds, and two order statistics between which the true median
/// lies, but for a chance (from the binomial distribution, whatever the distribution of the rounds).
struct paired_estimate {
    double median = 0, low = 0, high = 0;
    std::uint32_t rounds = 0; ///< below least_rounds() there is no such interval: low and high are NaN

    [[nodiscard]] bool is_below(double value) const { return high < value; }
    [[nodiscard]] bool is_above(double value) const { return low > value; }
};
/// `chance`: that the true median is outside the interval.
[[nodiscard]] paired_estimate estimate_of(std::span<const double> values, double chance = usual_chance);

/// " (--rounds 36 may decide it)", for an interval that is too wide to show whether a ratio is below 1, as its median
/// is; otherwise empty.
[[nodiscard]] std::string hint_of_rounds(const paired_estimate& ratio);

/// The fewest rounds that have an interval: 6 for the usual chance.
[[nodiscard]] std::uint32_t least_rounds(double chance = usual_chance);

struct replay_settings {
    touch_policy touch = touch_policy::ends;
    std::uint32_t rounds = 7;
    std::uint32_t repeat = 0; ///< 0: as often as a process needs for three million calls
    std::uint64_t seed = 1;
    std::chrono::milliseconds timeout{300'000};
    double chance = usual_chance; ///< of each interval
};

/// How often a trace is replayed in one process.
[[nodiscard]] std::uint32_t repeats_for(std::uint64_t calls, const replay_settings& settings);

/// What following some advice changes.
struct measured_saving {
    paired_estimate time_ratio;                         ///< time of the whole replay, as advised divided by as recorded
    paired_estimate first_ratio;                        ///< the same of the first replay in a process alone
    bool is_first_alone = false;                        ///< time_ratio is of first replays too: see measure_saving()
    paired_estimate saved_ns;                           ///< per call of the whole trace
    paired_estimate first_saved_ns;                     ///< the same of first replays: of a program that runs once
    double recorded_ns = 0;                             ///< per call of the whole trace, median
    double recorded_peak_mib = 0, advised_peak_mib = 0; ///< medians
    bool same_contents = false;                         ///< both replays ended with the same data in every block
    std::string error;                                  ///< why nothing was measured, in a sentence; empty when all was

    /// Whether time is saved, beyond what chance explains: on a heap that is warm, and on a new one.
    [[nodiscard]] bool is_proven() const {
        return error.empty() && same_contents && time_ratio.is_below(1) && first_ratio.is_below(1);
    }
};

/// Runs paired rounds in worker processes on `base`. A group that is empty less often in the trace than a process
/// replays it is measured on first replays alone, one per process and in twice the rounds: in later ones its allocator
/// would have the pages of the earlier ones, which the program never has.
[[nodiscard]] measured_saving measure_saving(const trace& recorded, std::span<const redirected_group> groups,
                                             const found_malloc& base, const replay_settings& settings);

}
