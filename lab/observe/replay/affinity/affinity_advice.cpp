// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/affinity/affinity_advice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/harness/worker/interrupt.hpp"
#include "observe/replay/report/advice_words.hpp"
#include "observe/trace/trace_figures.hpp"

namespace tenure::lab {

namespace {

constexpr double most_touched = 0.02;   ///< of a site's blocks, with 95 % confidence: some 150 must have been watched
constexpr double longest_calls = 1.05;  ///< the calls may take so much longer
constexpr std::size_t max_measured = 8; ///< groups

/// Sites by the group that they belong to.
class joined_sites {
public:
    explicit joined_sites(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0U); }

    void join(std::size_t one, std::size_t other) { parents_[root(one)] = root(other); }
    [[nodiscard]] std::size_t root(std::size_t of) {
        while (parents_[of] != of) of = parents_[of] = parents_[parents_[of]];
        return of;
    }

private:
    std::vector<std::size_t> parents_;
};

[[nodiscard]] std::string why_not_advised(const affinity_saving& saving, bool is_part) {
    if (!saving.error.empty()) return fmt::format("a replay could not be made: {}", saving.error);
    if (saving.pairs == 0 && is_part)
        return "a part of a trace does not tell which blocks are pairs: ask for advice on the whole trace";
    if (saving.pairs == 0) return "no pairs of their blocks are in use at the same time";
    constexpr double near_share = 90;
    if (saving.recorded.close >= near_share)
        return fmt::format("{:.0f} % of the pairs are at most 64 bytes apart already, in a replay as recorded",
                           saving.recorded.close);
    if (!saving.is_nearer())
        return fmt::format("a group places blocks in the order of their allocation, and that leaves the pairs as far "
                           "apart ({} in the middle, {} as recorded): allocate the two blocks of a pair one after the "
                           "other",
                           bytes_in_words(saving.advised.distance), bytes_in_words(saving.recorded.distance));
    if (saving.are_calls_slower())
        return fmt::format("a group brings the pairs nearer, but the calls take longer: {:+.1f} % [{:+.1f} to {:+.1f}]",
                           (saving.time_ratio.median - 1) * 100, (saving.time_ratio.low - 1) * 100,
                           (saving.time_ratio.high - 1) * 100);
    return fmt::format(
        "a group brings the pairs nearer ({} in the middle, {} as recorded), but a replay does not prove "
        "that reading them takes less time: {:+.1f} % [{:+.1f} to {:+.1f}]{}",
        bytes_in_words(saving.advised.distance), bytes_in_words(saving.recorded.distance),
        (saving.visit_ratio.median - 1) * 100, (saving.visit_ratio.low - 1) * 100, (saving.visit_ratio.high - 1) * 100,
        hint_of_rounds(saving.visit_ratio));
}

}

bool affinity_saving::is_nearer() const {
    constexpr double least_more_close = 20;
    return advised.close >= recorded.close + least_more_close || advised.distance * 2 <= recorded.distance;
}

bool affinity_saving::is_proven() const {
    return error.empty() && pairs != 0 && is_nearer() && visit_ratio.is_below(1) && !are_calls_slower();
}

bool affinity_saving::are_calls_slower() const { return time_ratio.low > 1 && time_ratio.median > longest_calls; }

std::vector<advised_affinity> join_pairs(const co_access& found) {
    joined_sites joined(found.sites.size());
    for (const site_pair& each : found.pairs)
        if (each.is_together) joined.join(each.first, each.second);
    std::vector<std::size_t> roots; // of the groups, in the order of their pairs
    std::vector<advised_affinity> made;
    for (const site_pair& each : found.pairs) {
        if (!each.is_together) continue;
        const std::size_t root = joined.root(each.first);
        const auto known = std::find(roots.begin(), roots.end(), root);
        const auto index = static_cast<std::size_t>(known - roots.begin());
        if (known == roots.end()) {
            roots.push_back(root);
            made.emplace_back();
            made.back().degree = confidence::high;
        }
        advised_affinity& to = made[index];
        to.pairs.push_back(each);
        for (const std::size_t site : {each.first, each.second})
            if (std::find(to.sites.begin(), to.sites.end(), found.sites[site]) == to.sites.end())
                to.sites.push_back(found.sites[site]);
    }
    // A group is as sure as the best pair of its least sure site.
    for (advised_affinity& group : made) {
        for (const auto& site : group.sites) {
            confidence best = confidence::low;
            for (const site_pair& pair : group.pairs)
                if (found.sites[pair.first] == site || found.sites[pair.second] == site)
                    best = std::max(best, pair.degree);
            group.degree = std::min(group.degree, best);
        }
    }
    return made;
}

std::vector<untouched_site> untouched_sites(const co_access& found) {
    std::vector<untouched_site> made;
    for (std::size_t index = 0; index < found.sites.size(); ++index) {
        const site_touches& touches = found.touches[index];
        if (static_cast<double>(touches.touched) > most_touched * static_cast<double>(touches.watched) ||
            touches.most_touched_share() > most_touched)
            continue;
        made.push_back({found.sites[index], touches});
    }
    std::stable_sort(made.begin(), made.end(), [](const untouched_site& a, const untouched_site& b) {
        return a.site->peak_bytes > b.site->peak_bytes;
    });
    return made;
}

affinity_report advise_affinity(const trace& recorded, std::span<const block_life> lives, const found_malloc& base,
                                const replay_settings& settings) {
    affinity_report made;
    if (recorded.windows.empty()) return made;
    const trace_figures figures = figures_of(recorded);
    made.windows = recorded.windows.size();
    made.watched_ns = figures.watched_ns;
    made.watched_blocks = figures.watched_blocks;
    made.accesses = figures.accesses;
    const co_access found = find_co_access(recorded, lives);
    made.looked_at =
        static_cast<std::size_t>(std::count_if(found.pairs.begin(), found.pairs.end(), [](const site_pair& each) {
            return each.learned.pairs + each.checked.pairs != 0;
        }));
    made.untouched = untouched_sites(found);
    made.groups = join_pairs(found);
    if (made.groups.size() > max_measured) made.groups.resize(max_measured);
    // One group in twenty would seem to save time by chance. All of them together have that chance. A group that seems
    // to is measured again, as other advice is: the figures that are shown did not choose it.
    replay_settings search = settings;
    search.chance = settings.chance / static_cast<double>(std::max<std::size_t>(made.groups.size(), 1));
    search.rounds = std::max(search.rounds, least_rounds(search.chance));
    std::uint64_t replays = 0;
    for (advised_affinity& each : made.groups) {
        for (const replay_settings* const how : {&std::as_const(search), &settings}) {
            if (interrupted()) return made;
            replay_settings seeded = *how;
            seeded.seed += ++replays * 0x9E37'79B9'7F4A'7C15;
            each.saving = measure_affinity(recorded, lives, each, base, seeded);
            if (!each.saving.is_proven()) break;
        }
        if (!each.saving.is_proven()) each.reason = why_not_advised(each.saving, recorded.is_part);
    }
    std::stable_sort(made.groups.begin(), made.groups.end(), [](const advised_affinity& a, const advised_affinity& b) {
        return a.is_advised() > b.is_advised();
    });
    return made;
}

}
