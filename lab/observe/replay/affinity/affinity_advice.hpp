// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Advice from the accesses of a trace: call sites whose blocks belong into one affinity group, and blocks that are
/// never touched.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "observe/replay/advice/counterfactual.hpp"
#include "observe/replay/affinity/co_access.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Where the two blocks of pairs lie in a replay, and what it costs to read both.
struct pair_placement {
    double close = 0;     ///< % of the pairs that are at most 64 bytes apart
    double same_page = 0; ///< % in the same page of 4 KiB
    double distance = 0;  ///< bytes between them, median
    double visit_ns = 0,
           shuffled_ns = 0; ///< to read a pair, one after the other in order of allocation, and in random order
};

/// What a replay shows of an affinity group: as recorded against blocks in the group.
struct affinity_saving {
    pair_placement recorded, advised; ///< medians
    double pairs = 0;                 ///< that the figures are of
    paired_estimate visit_ratio;      ///< shuffled_ns, as advised divided by as recorded
    paired_estimate time_ratio;       ///< of the calls of the whole trace
    double recorded_peak_mib = 0, advised_peak_mib = 0;
    std::string error; ///< why nothing was measured, in a sentence; empty when all was

    /// Whether the pairs come nearer, and are read in less time beyond what chance explains, without slower calls.
    [[nodiscard]] bool is_proven() const;
    [[nodiscard]] bool is_nearer() const;
    [[nodiscard]] bool are_calls_slower() const;
};

struct advised_affinity {
    std::vector<std::shared_ptr<const block_group>> sites; ///< two or more; one: its blocks go with each other
    std::vector<site_pair> pairs;                          ///< those of its sites that are touched together
    confidence degree = confidence::low;
    affinity_saving saving;
    std::string reason; ///< why a group is not advised, in a sentence; empty: it is

    [[nodiscard]] bool is_advised() const { return reason.empty(); }
};

struct untouched_site {
    std::shared_ptr<const block_group> site;
    site_touches touches;
};

struct affinity_report {
    std::uint64_t windows = 0, watched_ns = 0, watched_blocks = 0,
                  accesses = 0;            ///< windows: zero: the trace has no accesses
    std::vector<advised_affinity> groups;  ///< those that are advised come first
    std::vector<untouched_site> untouched; ///< the ones with most bytes first
    std::size_t looked_at = 0;             ///< pairs of call sites that were watched as couples, and touched
};

/// Call sites whose pairs are together, joined.
[[nodiscard]] std::vector<advised_affinity> join_pairs(const co_access& found);
/// Sites of whose blocks hardly any is touched: at most 2 %, with 95 % confidence.
[[nodiscard]] std::vector<untouched_site> untouched_sites(const co_access& found);

/// Replays the trace with the sites' blocks in an affinity group, against a replay as recorded.
[[nodiscard]] affinity_saving measure_affinity(const trace& recorded, std::span<const block_life> lives,
                                               const advised_affinity& group, const found_malloc& base,
                                               const replay_settings& settings);

/// All of it. Replays for each group.
[[nodiscard]] affinity_report advise_affinity(const trace& recorded, std::span<const block_life> lives,
                                              const found_malloc& base, const replay_settings& settings);

}
