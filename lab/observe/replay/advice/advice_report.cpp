// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/advice_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/harness/worker/interrupt.hpp"

namespace tenure::lab {

namespace {

constexpr double least_share = 0.005; ///< of the trace's blocks: the saving of fewer is below what a replay can see

constexpr double least_covered = 0.5; ///< of a group's blocks: its parts by caller are looked at instead of the whole

class advising {
public:
    advising(const trace& recorded, const found_malloc& base, const advice_settings& settings)
        : recorded_(recorded), base_(base), settings_(settings), lives_(lives_of(recorded)) {}

    void add_facts(const replay_plan& plan) {
        made_.events = recorded_.events.size();
        made_.blocks = plan.blocks;
        made_.allocated_bytes = plan.allocated_bytes;
        made_.peak_bytes = plan.peak_bytes;
        made_.threads = recorded_.threads;
        made_.has_stacks = has_stacks(recorded_);
        made_.base = base_.name;
        made_.frames = static_cast<std::uint64_t>(
            std::count_if(recorded_.events.begin(), recorded_.events.end(),
                          [](const trace_event& each) { return each.call == trace_call::frame; }));
        made_.has_frames = made_.frames != 0;
    }

    void choose_groups() {
        for (block_group& group : groups_of(recorded_, lives_)) consider(std::move(group));
        // What fits comes first, then what has most blocks.
        std::stable_sort(found_.begin(), found_.end(), [](const candidate& a, const candidate& b) {
            if (a.advice.fits.empty() != b.advice.fits.empty()) return b.advice.fits.empty();
            return a.group->blocks.size() > b.group->blocks.size();
        });
        for (const candidate& each : found_) {
            if (made_.groups.size() == settings_.max_groups) {
                pass_over(*each.group);
                continue;
            }
            advised_group made;
            made.group = each.group;
            made.reason = each.advice.refusal;
            made_.groups.push_back(std::move(made));
            fits_.push_back(each.advice.fits);
        }
    }

    void prove() {
        for (std::size_t i = 0; i < made_.groups.size() && !interrupted(); ++i) prove(made_.groups[i], fits_[i]);
        std::vector<redirected_group> proven;
        for (const advised_group& each : made_.groups)
            if (each.advice.kind != advice_kind::leave_alone) proven.push_back({each.group.get(), each.advice});
        if (proven.size() < 2 || interrupted()) return;
        made_.has_together = true;
        made_.together = measure_saving(recorded_, proven, base_, settings_.replay);
    }

    advice_report take() { return std::move(made_); }

private:
    [[nodiscard]] bool is_worth_a_look(const block_group& group) const {
        return static_cast<double>(group.blocks.size()) >= least_share * static_cast<double>(recorded_.blocks);
    }

    void pass_over(const block_group& group) {
        ++made_.other_groups;
        made_.other_blocks += group.blocks.size();
    }

    /// Begins with all blocks of a function, for which there would be one pool or one change of code. What does not fit
    /// as a whole may fit by caller, or by size.
    void consider(block_group&& group) {
        if (!is_worth_a_look(group)) return pass_over(group);
        group_advice whole = advise(recorded_, group, lives_);
        if (!whole.fits.empty()) return add(std::move(group), std::move(whole));
        std::vector<block_group> callers = by_caller(recorded_, group, lives_);
        std::uint64_t covered = 0;
        for (const block_group& each : callers)
            if (is_worth_a_look(each)) covered += each.blocks.size();
        if (static_cast<double>(covered) >= least_covered * static_cast<double>(group.blocks.size())) {
            for (block_group& each : callers) consider(std::move(each));
            return;
        }
        if (group.size_class != every_size) return add(std::move(group), std::move(whole));
        std::vector<block_group> parts = by_size_class(recorded_, group, lives_);
        std::vector<group_advice> advice;
        for (const block_group& each : parts) advice.push_back(advise(recorded_, each, lives_));
        const bool helps = parts.size() > 1 && std::any_of(advice.begin(), advice.end(),
                                                           [](const group_advice& each) { return !each.fits.empty(); });
        if (!helps) return add(std::move(group), std::move(whole));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (is_worth_a_look(parts[i]))
                add(std::move(parts[i]), std::move(advice[i]));
            else
                pass_over(parts[i]);
        }
    }

    void add(block_group&& group, group_advice&& advice) {
        found_.push_back({std::make_shared<const block_group>(std::move(group)), std::move(advice)});
    }

    /// Tries what fits, until a replay proves it.
    void prove(advised_group& of, const std::vector<lifetime_advice>& fits) {
        std::string reasons;
        for (const lifetime_advice& each : fits) {
            const redirected_group one{of.group.get(), each};
            const measured_saving saving = measure_saving(recorded_, {&one, 1}, base_, settings_.replay);
            of.was_measured = true;
            of.saving = saving;
            if (saving.is_proven()) {
                of.advice = each;
                of.reason = reasons; // of kinds that were tried before
                return;
            }
            if (!reasons.empty()) reasons += "; ";
            if (!saving.error.empty())
                reasons +=
                    fmt::format("it would fit {}, but the replay failed: {}", with_article(each.kind), saving.error);
            else
                reasons +=
                    fmt::format("it would fit {} ({}), but a replay does not prove that it saves time: {:+.1f} % "
                                "[{:+.1f} to {:+.1f}] of the whole replay",
                                with_article(each.kind), each.why, (saving.time_ratio.median - 1) * 100,
                                (saving.time_ratio.low - 1) * 100, (saving.time_ratio.high - 1) * 100);
        }
        if (!reasons.empty()) of.reason = reasons;
    }

    struct candidate {
        std::shared_ptr<const block_group> group;
        group_advice advice;
    };

    const trace& recorded_;
    const found_malloc& base_;
    const advice_settings& settings_;
    std::vector<block_life> lives_;
    std::vector<candidate> found_;
    std::vector<std::vector<lifetime_advice>> fits_; // by index in made_.groups
    advice_report made_;
};

}

advice_report advise_on(const trace& recorded, const found_malloc& base, const advice_settings& settings) {
    const replay_plan plan = make_plan(recorded);
    advice_report refused;
    refused.error = plan.error;
    if (!plan.ok()) return refused;
    advising work(recorded, base, settings);
    work.add_facts(plan);
    work.choose_groups();
    work.prove();
    return work.take();
}

}
