// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness/schedule.hpp"
#include "observe/replay/affinity/affinity_advice.hpp"
#include "observe/replay/affinity/related_blocks.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "observe/replay/run/replay_limits.hpp"
#include "report/analysis/statistics.hpp"

namespace tenure::lab {

namespace {

[[nodiscard]] block_routes routes_of_group(const trace& recorded, std::span<const block_life> lives,
                                           const advised_affinity& group) {
    block_routes made;
    made.routes.push_back({route_kind::affinity, 4, 0});
    made.route_of_block.assign(recorded.blocks, 0);
    for (const auto& site : group.sites)
        for (const std::uint64_t block : site->blocks)
            if (lives[block].resizes == 0) made.route_of_block[block] = 1; // realloc moves a block out of a group
    return made;
}

[[nodiscard]] std::vector<double> samples_of_metric(const contestant_result& row, std::string_view name,
                                                    std::string_view variant) {
    for (const metric& each : row.metrics)
        if (each.name == name && (variant.empty() || each.variant == variant)) return each.samples;
    return {};
}

/// Zero where there is none.
[[nodiscard]] double median_of_metric(const contestant_result& row, std::string_view name,
                                      std::string_view variant = {}) {
    const double median = summarize(samples_of_metric(row, name, variant)).median;
    return std::isnan(median) ? 0 : median;
}

[[nodiscard]] pair_placement placement_of(const contestant_result& row) {
    return {median_of_metric(row, replay_close), median_of_metric(row, replay_same_page),
            median_of_metric(row, replay_distance), median_of_metric(row, replay_visit, visit_in_order),
            median_of_metric(row, replay_visit, visit_shuffled)};
}

[[nodiscard]] paired_estimate ratio_of(const contestant_result& recorded, const contestant_result& advised,
                                       double chance, std::string_view name, std::string_view variant = {}) {
    return estimate_of(
        round_ratios(samples_of_metric(advised, name, variant), samples_of_metric(recorded, name, variant)), chance);
}

}

affinity_saving measure_affinity(const trace& recorded, std::span<const block_life> lives,
                                 const advised_affinity& group, const found_malloc& base,
                                 const replay_settings& settings) {
    affinity_saving made;
    replay_plan before = make_plan(recorded);
    replay_plan after = make_plan(recorded, plan_threads::folded, routes_of_group(recorded, lives, group));
    std::vector<block_relation> relations;
    for (const site_pair& each : group.pairs)
        relations.insert(relations.end(), each.relations.begin(), each.relations.end());
    for (replay_plan* const each : {&before, &after}) {
        if (each->ok())
            each->neighbours = related_slots(recorded, relations, *each);
        else
            made.error = each->error;
    }
    if (made.error.empty()) made.error = why_too_large(before);
    plan_file file;
    const std::vector<const replay_plan*> plans{&before, &after};
    if (made.error.empty()) made.error = file.write(plans);
    if (!made.error.empty()) return made;
    const experiment& described = replay_experiments()[1];
    parameters options(described.options);
    options.set("touch", static_cast<std::int64_t>(settings.touch));
    options.set("repeat", 1);
    options.set_input(file.descriptor());
    run_settings how;
    how.rounds = settings.rounds;
    how.seed = settings.seed;
    how.timeout = settings.timeout;
    how.parts = 1U << part_time | 1U << part_memory | 1U << part_contents | 1U << part_distances | 1U << part_visits;
    const std::vector<found_malloc> mallocs{base};
    const experiment_result found = run_experiment(described, options, list_rows(described, mallocs, {}), how);
    if (found.contestants.size() != 2) {
        made.error = fmt::format("{} cannot be used as a malloc", base.name);
        return made;
    }
    for (const contestant_result& each : found.contestants)
        if (each.state != outcome::measured) made.error = each.name + ": " + each.reason;
    if (!made.error.empty()) return made;
    const contestant_result &as_it_was = found.contestants[0], &in_group = found.contestants[1];
    if (median_of_metric(as_it_was, replay_digest) != median_of_metric(in_group, replay_digest)) {
        made.error = "the blocks did not hold the same data in both replays";
        return made;
    }
    made.recorded = placement_of(as_it_was);
    made.advised = placement_of(in_group);
    made.pairs = median_of_metric(as_it_was, replay_pairs);
    made.visit_ratio = ratio_of(as_it_was, in_group, settings.chance, replay_visit, visit_shuffled);
    made.time_ratio = ratio_of(as_it_was, in_group, settings.chance, replay_first);
    made.recorded_peak_mib = median_of_metric(as_it_was, replay_peak);
    made.advised_peak_mib = median_of_metric(in_group, replay_peak);
    return made;
}

}
