// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Plans the rounds, runs them, and makes rows from the workers' replies.

#include "bench/harness/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/machine/machine.hpp"
#include "bench/harness/progress.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/rows.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "bench/harness/worker/process.hpp"
#include "bench/harness/worker/worker.hpp"

namespace tenure::lab {

namespace {

struct planned_job {
    std::size_t measured_row, part;
};

std::uint64_t mixed_seed(std::uint64_t seed, std::uint32_t round) { return random_source{seed + round}(); }

/// The parts that each measured_row runs.
using part_sets = std::vector<std::uint64_t>;

constexpr bool holds_part(std::uint64_t parts, std::size_t part) { return (parts >> part & 1u) != 0; }

std::vector<planned_job> plan_round(const experiment& chosen, const part_sets& taken, std::uint32_t round,
                                    std::uint64_t seed) {
    random_source random(seed);
    std::vector<std::size_t> parts(chosen.parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = i;
    shuffle(std::span{parts}, random);
    std::vector<planned_job> plan;
    for (std::size_t part : parts) {
        if (round >= chosen.parts[part].rounds) continue;
        const std::size_t begin = plan.size();
        for (std::size_t i = 0; i < taken.size(); ++i) {
            if (holds_part(taken[i], part)) plan.push_back({i, part});
        }
        shuffle(std::span{plan}.subspan(begin), random);
    }
    return plan;
}

std::string_view why_left_out(const experiment& chosen, const measured_row& row, const parameters& options,
                              std::size_t part) {
    const contestant& who = chosen.sources[row.source]()[row.contestant];
    return who.left_out != nullptr ? who.left_out(options, part) : std::string_view{};
}

class runner {
public:
    runner(const experiment& chosen, const parameters& options, std::span<const measured_row> measured_rows,
           const run_settings& settings)
        : chosen_(chosen), options_(options), measured_rows_(measured_rows), settings_(settings),
          rows_(measured_rows, chosen.parts, settings.rounds), taken_(take_parts()), cpus_(allowed_cpus()),
          progress_(chosen.name, all_jobs()) {}

    void run() {
        for (; begun_ < settings_.rounds && !interrupted(); ++begun_) run_round(begun_);
    }

    /// The rounds that have figures; after an interrupt some figures have one less.
    [[nodiscard]] std::uint32_t rounds_held() const { return interrupted() ? rows_.rounds_held() : begun_; }
    [[nodiscard]] std::vector<contestant_result> take_rows() { return rows_.take(begun_); }

private:
    /// Selects the parts that each row runs and records in the rows what they are left out of.
    [[nodiscard]] part_sets take_parts() {
        part_sets taken;
        const std::uint64_t parts =
            settings_.parts == run_all_parts ? chosen_.default_parts(options_) : settings_.parts;
        for (std::size_t i = 0; i < measured_rows_.size(); ++i) {
            const measured_row& row = measured_rows_[i];
            taken.push_back(row.missing.empty() ? row.parts & parts : 0);
            for (std::size_t part = 0; part < chosen_.parts.size(); ++part) {
                if (!holds_part(taken[i], part)) continue;
                const std::string_view reason = why_left_out(chosen_, row, options_, part);
                if (reason.empty()) continue;
                taken[i] &= ~(std::uint64_t{1} << part);
                rows_.leave_out(i, part, reason);
            }
            if (taken[i] == 0) rows_.has_no_part(i);
        }
        return taken;
    }

    [[nodiscard]] std::size_t all_jobs() const {
        std::size_t jobs = 0;
        for (std::uint64_t parts : taken_) {
            for (std::size_t part = 0; part < chosen_.parts.size(); ++part) {
                if (holds_part(parts, part)) jobs += std::min(settings_.rounds, chosen_.parts[part].rounds);
            }
        }
        return jobs;
    }

    void run_round(std::uint32_t round) {
        const std::uint64_t seed = mixed_seed(settings_.seed, round);
        for (const planned_job job : plan_round(chosen_, taken_, round, seed)) {
            if (interrupted()) return;
            if (rows_.has_failed(job.measured_row)) {
                progress_.skipped_jobs(1);
                continue;
            }
            run_job(job, round, seed);
        }
    }

    void run_job(planned_job job, std::uint32_t round, std::uint64_t seed) {
        const measured_row& row = measured_rows_[job.measured_row];
        const part& piece = chosen_.part_at(job.part);
        progress_.starting(round + 1, settings_.rounds, row.name, piece.name, piece.waits);
        worker_request request;
        request.arguments =
            worker_arguments({chosen_.name, row.source, row.contestant, job.part, seed, row.library}, options_);
        request.preload = row.library;
        request.environment = row.environment;
        if (piece.threads == 1 && !cpus_.empty()) request.cpu = cpus_.front();
        request.timeout = settings_.timeout;
        const worker_reply reply = run_worker(request);
        if (reply.how == ending::interrupted) return;
        progress_.finished_job();
        rows_.add(job.measured_row, round, job.part, reply);
    }

    const experiment& chosen_;
    const parameters& options_;
    std::span<const measured_row> measured_rows_;
    const run_settings& settings_;
    row_builder rows_;
    part_sets taken_;
    std::vector<int> cpus_;
    std::uint32_t begun_ = 0;
    progress progress_;
};

/// "all, 64 B", "drop, 8 B" (2 of 13); empty when all default parts run.
std::string chosen_parts(const experiment& chosen, const parameters& options, std::uint64_t parts) {
    const std::uint64_t by_itself = chosen.default_parts(options);
    if ((parts & by_itself) == by_itself && (parts == run_all_parts || parts == by_itself)) return {};
    std::string names;
    std::size_t count = 0;
    for (std::size_t i = 0; i < chosen.parts.size(); ++i) {
        if (!holds_part(parts, i)) continue;
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", chosen.parts[i].name);
        ++count;
    }
    return fmt::format("{} ({} of {})", names, count, chosen.parts.size());
}

std::vector<parameter> describe(const experiment& chosen, const parameters& options, const run_settings& settings) {
    std::vector<parameter> made;
    if (std::string parts = chosen_parts(chosen, options, settings.parts); !parts.empty()) {
        made.push_back({"--parts", std::move(parts)});
    }
    for (const parameters::entry& option : options.all()) {
        made.push_back({fmt::format("--{}", option.name), std::to_string(option.value)});
    }
    if (options.has_input()) made.push_back({"--input", std::string{options.input_path()}});
    made.push_back({"--rounds", std::to_string(settings.rounds)});
    made.push_back({"--seed", std::to_string(settings.seed)});
    for (const std::string& text : allocator_environment()) made.push_back({"environment", text});
    return made;
}

}

experiment_result run_experiment(const experiment& chosen, const parameters& options,
                                 std::span<const measured_row> measured_rows, const run_settings& settings) {
    experiment_result made;
    made.name = chosen.name;
    made.question = chosen.question;
    made.unfair.assign(chosen.unfair.begin(), chosen.unfair.end());
    made.baseline = chosen.baseline;
    made.parameters = describe(chosen, options, settings);
    made.ranking_rule = chosen.ranking_rule;
    made.unranked.assign(chosen.unranked.begin(), chosen.unranked.end());
    for (const primary_figure& each : chosen.primary)
        made.primary.push_back({std::string(each.metric), std::string(each.variant)});
    const bool partial = !chosen_parts(chosen, options, settings.parts).empty();
    if (partial && !made.ranking_rule.empty()) made.ranking_rule = "Of the chosen parts only. " + made.ranking_rule;
    if (chosen.properties != nullptr) made.properties = chosen.properties();
    for (const named_quotient& each : chosen.quotients)
        made.quotients.push_back({std::string(each.title), std::string(each.over), std::string(each.under)});
    runner work(chosen, options, measured_rows, settings);
    work.run();
    made.rounds = work.rounds_held();
    made.contestants = work.take_rows();
    return made;
}

}
