// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds which call sites to give pages of their own: replays many guesses, keeps the best, and makes it smaller.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "observe/replay/separation/separation.hpp"
#include "observe/replay/separation/separation_replay.hpp"
#include "observe/replay/separation/site_figures.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// A site of the advice, as the trace that it was learned from shows it.
struct separated_site {
    std::uint8_t number = 0;
    std::size_t frames = 0;
    std::uint32_t stack = 0;  ///< of the trace: the one of this site that allocates most
    std::uint32_t stacks = 0; ///< of this site
    site_figures sum;
};

/// Memory of a trace without and with the advice.
struct separation_figures {
    separated_memory before, after;
    double mean_live = 0;         ///< bytes
    std::uint64_t peak_bytes = 0; ///< of live bytes

    /// Whether the mean after trim() or the peak falls enough, and neither a mean nor a peak rises.
    [[nodiscard]] bool is_better() const;
};

/// The advice on a trace that it was not learned from.
struct checked_run {
    std::string name;   ///< of the file
    std::string damage; ///< what of the trace could not be read; may be empty
    separation_figures figures;
};

struct separation_report {
    separation advised;                ///< no sites: nothing helps. The names of the classes are empty
    std::string origin;                ///< of the sites: "the call sites that hold most bytes, compared by 1 frame"
    std::vector<separated_site> sites; ///< by index in separation::sites
    std::uint64_t events = 0, calls = 0, separated_calls = 0;
    separation_figures learned;       ///< of the trace that it was learned from
    std::vector<checked_run> checked; ///< in the order of the checks
    std::uint64_t candidates = 0;     ///< assignments of calls to classes that were replayed
    std::uint64_t replays = 0;        ///< of all traces
    std::string refusal;              ///< why there are no sites, in a sentence; empty if there are
    std::string damage;               ///< what of the trace could not be read; may be empty
    std::string error;                ///< why there is no report, in a sentence
};

/// Called before each step of the search, with its name.
using search_progress = std::function<void(std::uint32_t step, std::uint32_t steps, const std::string& what)>;

/// How often the figures of a report are measured without and with the advice, in turn. Their medians are shown.
inline constexpr std::size_t shown_repeats = 5;

/// Why a trace tells nothing about call sites, in a sentence; empty when it does.
[[nodiscard]] std::string why_no_separation(const trace& recorded);

/// Whether two traces are of one run of a program: of the same recording, process and start.
[[nodiscard]] bool is_same_run(const trace& one, const trace& other);

/// Replays 24 to 160 candidates once each, fewer of a longer trace, and then what is shown `shown_repeats` times.
/// `recorded`: its events are released, so that the replays' processes are small.
[[nodiscard]] separation_report find_separation(trace& recorded, const separation_replay_settings& settings,
                                                const search_progress& progress = {});

/// Measures the advice on the trace of another run, whose events are released. Advice that does not help there either
/// is withdrawn: the report then has no sites, and says so.
void check_separation(separation_report& found, trace& other, const std::string& name,
                      const separation_replay_settings& settings);

}
