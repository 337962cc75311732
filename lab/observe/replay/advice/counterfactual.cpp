// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/counterfactual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "bench/harness/schedule.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "observe/replay/run/replay_limits.hpp"
#include "report/analysis/statistics.hpp"

namespace tenure::lab {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

route_kind route_of(advice_kind kind) {
    switch (kind) {
    case advice_kind::temp: return route_kind::temp;
    case advice_kind::temp_job: return route_kind::temp_job;
    case advice_kind::pool: return route_kind::pool;
    case advice_kind::shared_pool: return route_kind::shared_pool;
    case advice_kind::arena: return route_kind::arena;
    case advice_kind::reserve:
    case advice_kind::leave_alone: break;
    }
    return route_kind::malloc;
}

const metric* find(const contestant_result& row, std::string_view name) {
    const auto found =
        std::find_if(row.metrics.begin(), row.metrics.end(), [&](const metric& one) { return one.name == name; });
    return found == row.metrics.end() ? nullptr : &*found;
}

std::vector<double> samples_of(const contestant_result& row, std::string_view name) {
    const metric* const found = find(row, name);
    return found == nullptr ? std::vector<double>{} : found->samples;
}

/// The first round that has a number.
double first_of(const std::vector<double>& samples) {
    const auto found = std::find_if(samples.begin(), samples.end(), [](double each) { return !std::isnan(each); });
    return found == samples.end() ? not_a_number : *found;
}

/// By round.
std::vector<double> differences(const std::vector<double>& from, const std::vector<double>& less) {
    std::vector<double> made;
    for (std::size_t i = 0; i < std::min(from.size(), less.size()); ++i) made.push_back(from[i] - less[i]);
    return made;
}

void read_rows(const contestant_result& recorded, const contestant_result& advised, double chance,
               measured_saving& to) {
    const std::vector<double> before = samples_of(recorded, replay_time), after = samples_of(advised, replay_time);
    const std::vector<double> first_before = samples_of(recorded, replay_first),
                              first_after = samples_of(advised, replay_first);
    to.time_ratio = estimate_of(round_ratios(after, before), chance);
    to.first_ratio = estimate_of(round_ratios(first_after, first_before), chance);
    to.saved_ns = estimate_of(differences(before, after), chance);
    to.first_saved_ns = estimate_of(differences(first_before, first_after), chance);
    to.recorded_ns = summarize(before).median;
    to.recorded_peak_mib = summarize(samples_of(recorded, replay_peak)).median;
    to.advised_peak_mib = summarize(samples_of(advised, replay_peak)).median;
    to.same_contents = first_of(samples_of(recorded, replay_digest)) == first_of(samples_of(advised, replay_digest));
    if (to.time_ratio.rounds == 0)
        to.error = "the run was interrupted before a round was complete";
    else if (!to.same_contents)
        to.error = "the blocks did not hold the same data in both replays";
}

}

block_routes routes_for(const trace& recorded, std::span<const redirected_group> groups) {
    block_routes made;
    made.route_of_block.assign(recorded.blocks, 0);
    for (const redirected_group& each : groups) {
        if (each.advice.kind == advice_kind::reserve) {
            made.reserved_bytes.resize(recorded.blocks);
            for (const std::uint64_t block : each.group->blocks) made.reserved_bytes[block] = each.advice.room_bytes;
            continue;
        }
        made.scopes.insert(made.scopes.end(), each.advice.scopes.begin(), each.advice.scopes.end());
        made.routes.push_back({route_of(each.advice.kind), each.advice.alignment_log2, each.advice.room_bytes});
        const auto route = static_cast<std::uint16_t>(made.routes.size() - 1);
        for (const std::uint64_t block : each.group->blocks) made.route_of_block[block] = route;
    }
    made.scopes = nested(std::move(made.scopes));
    return made;
}

namespace {

/// The chance that at most `outside` of the rounds are below the true median.
double tail_of(std::size_t rounds, std::size_t outside) {
    const double count = static_cast<double>(rounds);
    double tail = 0;
    for (std::size_t i = 0; i <= outside; ++i) {
        const double below = static_cast<double>(i);
        // In logarithms: half to the power of a thousand is no double.
        tail += std::exp(std::lgamma(count + 1) - std::lgamma(below + 1) - std::lgamma(count - below + 1) -
                         count * std::numbers::ln2);
    }
    return tail;
}

}

paired_estimate estimate_of(std::span<const double> values, double chance) {
    std::vector<double> sorted;
    for (const double each : values)
        if (!std::isnan(each)) sorted.push_back(each);
    std::sort(sorted.begin(), sorted.end());
    paired_estimate made{not_a_number, not_a_number, not_a_number, static_cast<std::uint32_t>(sorted.size())};
    if (sorted.empty()) return made;
    made.median = quantile(sorted, 0.5);
    if (made.rounds < least_rounds(chance)) return made;
    // As many rounds as possible are left out on each side.
    std::size_t outside = 0, most = (sorted.size() - 1) / 2;
    while (outside < most) {
        const std::size_t middle = (outside + most + 1) / 2;
        if (2 * tail_of(sorted.size(), middle) <= chance)
            outside = middle;
        else
            most = middle - 1;
    }
    made.low = sorted[outside];
    made.high = sorted[sorted.size() - 1 - outside];
    return made;
}

std::string hint_of_rounds(const paired_estimate& ratio) {
    constexpr std::uint32_t factor = 4, most = 10'000; // the interval of four times as many is half as wide
    const bool may_be_below = ratio.median < 1 && !ratio.is_below(1);
    return may_be_below && ratio.rounds < most
               ? fmt::format(" (--rounds {} may decide it)", std::min(ratio.rounds * factor, most))
               : std::string();
}

std::uint32_t least_rounds(double chance) {
    std::uint32_t rounds = 1;
    for (double outside = 0.5; 2 * outside > chance; outside /= 2) ++rounds;
    return rounds;
}

std::uint32_t repeats_for(std::uint64_t calls, const replay_settings& settings) {
    constexpr std::uint64_t enough = 3'000'000;
    if (settings.repeat != 0) return settings.repeat;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(enough / std::max<std::uint64_t>(calls, 1), 1, 1000));
}

measured_saving measure_saving(const trace& recorded, std::span<const redirected_group> groups,
                               const found_malloc& base, const replay_settings& settings) {
    measured_saving made;
    const replay_plan before = make_plan(recorded);
    const replay_plan after = make_plan(recorded, plan_threads::folded, routes_for(recorded, groups));
    for (const replay_plan* const each : {&before, &after}) {
        if (!each->ok()) made.error = each->error;
    }
    if (!made.error.empty()) return made;
    if (made.error = why_too_large(before); !made.error.empty()) return made;
    const experiment& described = replay_experiments()[1];
    plan_file file;
    const std::vector<const replay_plan*> plans{&before, &after};
    if (made.error = file.write(plans); !made.error.empty()) return made;
    const std::uint32_t repeats = repeats_for(before.calls, settings);
    const bool is_rare = std::any_of(groups.begin(), groups.end(),
                                     [&](const redirected_group& each) { return each.group->bursts.size() < repeats; });
    made.is_first_alone = is_rare || repeats == 1;
    parameters options(described.options);
    options.set("touch", static_cast<std::int64_t>(settings.touch));
    options.set("repeat", made.is_first_alone ? 1 : repeats);
    options.set_input(file.descriptor());
    const std::vector<found_malloc> mallocs{base};
    const std::vector<measured_row> rows = list_rows(described, mallocs, {});
    run_settings how;
    how.rounds = is_rare ? settings.rounds * 2 : settings.rounds;
    how.seed = settings.seed;
    how.timeout = settings.timeout;
    how.parts = 1U << part_time | 1U << part_memory | 1U << part_contents;
    const experiment_result found = run_experiment(described, options, rows, how);
    if (found.contestants.size() != 2) {
        made.error = fmt::format("{} cannot be used as a malloc", base.name);
        return made;
    }
    for (const contestant_result& each : found.contestants) {
        if (each.state != outcome::measured) made.error = each.name + ": " + each.reason;
    }
    if (made.error.empty()) read_rows(found.contestants[0], found.contestants[1], settings.chance, made);
    return made;
}

}
