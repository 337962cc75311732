// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The plan of a round, the run, and rows from what the workers said.

#include "harness/rounds.hpp"

#include <fmt/format.h>

#include "harness/cpus.hpp"
#include "harness/interrupt.hpp"
#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "harness/process.hpp"
#include "harness/progress.hpp"
#include "harness/rows.hpp"
#include "harness/worker.hpp"

namespace tenure::lab {

namespace {

struct planned_job {
    std::size_t entrant, part;
};

std::uint64_t mixed_seed(std::uint64_t seed, std::uint32_t round) { return random_source{seed + round}(); }

std::vector<planned_job> plan_round(const experiment& chosen, std::span<const entrant> entrants, std::uint64_t seed) {
    random_source random(seed);
    std::vector<std::size_t> parts(chosen.parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = i;
    shuffle(std::span{parts}, random);
    std::vector<planned_job> plan;
    for (std::size_t part : parts) {
        std::size_t const begin = plan.size();
        for (std::size_t i = 0; i < entrants.size(); ++i) {
            bool const takes_part = (entrants[i].parts >> part & 1u) != 0;
            if (takes_part && entrants[i].missing.empty()) plan.push_back({i, part});
        }
        shuffle(std::span{plan}.subspan(begin), random);
    }
    return plan;
}

std::size_t jobs_of(const entrant& row) {
    return row.missing.empty() ? static_cast<std::size_t>(__builtin_popcountll(row.parts)) : 0;
}

class runner {
public:
    runner(const experiment& chosen, const parameters& options, std::span<const entrant> entrants,
           const run_settings& settings)
        : chosen_(chosen), options_(options), entrants_(entrants), settings_(settings),
          rows_(entrants, chosen.parts, settings.rounds), cpus_(allowed_cpus()), progress_(chosen.name, all_jobs()) {}

    void run() {
        for (std::uint32_t round = 0; round < settings_.rounds && !interrupted(); ++round) run_round(round);
    }

    [[nodiscard]] std::vector<contestant_result> take_rows() { return rows_.take(); }
    [[nodiscard]] std::uint32_t rounds_done() const { return done_; }

private:
    [[nodiscard]] std::size_t all_jobs() const {
        std::size_t jobs = 0;
        for (const entrant& row : entrants_) jobs += jobs_of(row) * settings_.rounds;
        return jobs;
    }

    void run_round(std::uint32_t round) {
        std::uint64_t const seed = mixed_seed(settings_.seed, round);
        for (planned_job const job : plan_round(chosen_, entrants_, seed)) {
            if (interrupted()) return;
            if (rows_.has_failed(job.entrant)) {
                progress_.skipped_jobs(1);
                continue;
            }
            run_job(job, round, seed);
        }
        if (!interrupted()) ++done_;
    }

    void run_job(planned_job job, std::uint32_t round, std::uint64_t seed) {
        const entrant& row = entrants_[job.entrant];
        const part& piece = chosen_.part_at(job.part);
        progress_.starting(round + 1, settings_.rounds, row.name, piece.name);
        worker_request request;
        request.arguments =
            worker_arguments({chosen_.name, row.source, row.contestant, job.part, seed, row.library}, options_);
        request.preload = row.library;
        if (piece.threads == 1 && !cpus_.empty()) request.cpu = cpus_.front();
        request.timeout = settings_.timeout;
        worker_reply const reply = run_worker(request);
        if (reply.how == ending::interrupted) return;
        progress_.finished_job();
        rows_.add(job.entrant, round, job.part, reply);
    }

    const experiment& chosen_;
    const parameters& options_;
    std::span<const entrant> entrants_;
    const run_settings& settings_;
    row_builder rows_;
    std::vector<int> cpus_;
    std::uint32_t done_ = 0;
    progress progress_;
};

std::vector<parameter> describe(const parameters& options, const run_settings& settings) {
    std::vector<parameter> made;
    for (const parameters::entry& option : options.all()) {
        made.push_back({fmt::format("--{}", option.name), std::to_string(option.value)});
    }
    made.push_back({"--rounds", std::to_string(settings.rounds)});
    made.push_back({"--seed", std::to_string(settings.seed)});
    for (const std::string& text : allocator_environment()) made.push_back({"environment", text});
    return made;
}

}

experiment_result run_experiment(const experiment& chosen, const parameters& options, std::span<const entrant> entrants,
                                 const run_settings& settings) {
    experiment_result made;
    made.name = chosen.name;
    made.question = chosen.question;
    made.unfair.assign(chosen.unfair.begin(), chosen.unfair.end());
    made.baseline = chosen.baseline;
    made.parameters = describe(options, settings);
    made.ranking_rule = chosen.ranking_rule;
    if (chosen.properties != nullptr) made.properties = chosen.properties();
    runner work(chosen, options, entrants, settings);
    work.run();
    made.rounds = work.rounds_done();
    made.contestants = work.take_rows();
    return made;
}

}
