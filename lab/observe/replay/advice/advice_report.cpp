// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/advice_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/harness/worker/interrupt.hpp"
#include "observe/replay/run/replay_limits.hpp"

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
        made_.unknown_frees = recorded_.unknown_frees;
        made_.damage = recorded_.damage;
        made_.repeats = repeats_for(plan.calls, settings_.replay);
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
                ++made_.other_groups;
                made_.other_blocks += each.group->blocks.size();
                continue;
            }
            advised_group made;
            made.group = each.group;
            made.reason = each.advice.refusal;
            made_.groups.push_back(std::move(made));
            fits_.push_back(each.advice.fits);
            made_.comparisons += each.advice.fits.size();
        }
        // One comparison in twenty would seem to save time by chance. All of them together have that chance.
        search_ = settings_.replay;
        search_.chance = usual_chance / static_cast<double>(std::max<std::size_t>(made_.comparisons, 1));
        search_.rounds = std::max(search_.rounds, least_rounds(search_.chance));
        made_.replay = search_;
    }

    void prove() {
        next_.resize(made_.groups.size());
        tried_.resize(made_.groups.size());
        for (std::size_t i = 0; i < made_.groups.size(); ++i) prove(i);
        while (part_scopes()) {}
        std::vector<redirected_group> proven;
        for (const advised_group& each : made_.groups)
            if (each.advice.kind != advice_kind::leave_alone) proven.push_back({each.group.get(), each.advice});
        if (proven.size() < 2 || interrupted()) return;
        made_.together = measure_saving(recorded_, proven, base_, confirming());
        made_.has_together = !interrupted();
    }

    void look_at_accesses() {
        if (interrupted()) return;
        affinity_report found = advise_affinity(recorded_, lives_, base_, confirming());
        if (!interrupted()) made_.accesses = std::move(found);
    }

    advice_report take() {
        made_.is_complete = !interrupted();
        return std::move(made_);
    }

private:
    [[nodiscard]] bool is_worth_a_look(const block_group& group) const {
        return static_cast<double>(group.blocks.size()) >= least_share * static_cast<double>(recorded_.blocks);
    }

    void pass_over(const block_group& group) {
        ++made_.small_groups;
        made_.small_blocks += group.blocks.size();
    }

    /// Begins with all blocks of a call, for which there would be one pool or one change of code. What does not fit
    /// as a whole may fit by caller, or by size.
    void consider(block_group&& group) {
        if (!is_worth_a_look(group)) return pass_over(group);
        group_advice whole = advise(recorded_, group, lives_, settings_.functions);
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
        for (const block_group& each : parts) advice.push_back(advise(recorded_, each, lives_, settings_.functions));
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

    /// Settings of a run whose order is new.
    [[nodiscard]] replay_settings with_new_seed(replay_settings settings) {
        settings.seed += ++runs_ * 0x9E3779B97F4A7C15u;
        return settings;
    }
    /// Of what was chosen because it looked best, the figures look too good: they are taken again.
    [[nodiscard]] replay_settings confirming() {
        replay_settings made = with_new_seed(search_);
        made.chance = usual_chance;
        return made;
    }

    /// Tries what fits and was not tried, until a replay proves it and another confirms it. What an interrupt cuts off
    /// proves nothing.
    void prove(std::size_t index) {
        advised_group& of = made_.groups[index];
        const std::vector<lifetime_advice>& fits = fits_[index];
        of.advice = {};
        for (std::size_t& next = next_[index]; next < fits.size();) {
            const lifetime_advice& each = fits[next++];
            if (interrupted()) {
                add_reason(index,
                           fmt::format("it would fit {}, which was not measured to the end", with_article(each.kind)));
                continue;
            }
            const redirected_group one{of.group.get(), each};
            of.was_measured = true;
            of.saving = measure_saving(recorded_, {&one, 1}, base_, with_new_seed(search_));
            if (of.saving.is_proven() && !interrupted())
                of.saving = measure_saving(recorded_, {&one, 1}, base_, confirming());
            if (interrupted()) {
                of.was_measured = false;
                of.saving = {};
                --next; // it is told as not measured
                continue;
            }
            if (of.saving.is_proven()) {
                of.advice = each;
                of.reason = tried_[index]; // what the rules say of other kinds is of no more use
                return;
            }
            add_reason(index, why_not_proven(each, of.saving));
        }
    }

    void add_reason(std::size_t index, const std::string& reason) {
        tried_[index] += (tried_[index].empty() ? "" : "; ") + reason;
        made_.groups[index].reason = tried_[index];
    }

    static std::string why_not_proven(const lifetime_advice& of, const measured_saving& saving) {
        if (!saving.error.empty())
            return fmt::format("it would fit {}, but the replay failed: {}", with_article(of.kind), saving.error);
        // Shown is the one of both ratios that proves nothing.
        const paired_estimate& ratio = saving.time_ratio.is_below(1) ? saving.first_ratio : saving.time_ratio;
        return fmt::format(
            "it would fit {} ({}), but a replay does not prove that it saves time: {:+.1f} % [{:+.1f} to "
            "{:+.1f}] of the whole replay{}{}",
            with_article(of.kind), of.why, (ratio.median - 1) * 100, (ratio.low - 1) * 100, (ratio.high - 1) * 100,
            saving.is_first_alone || &ratio == &saving.first_ratio ? " on a new heap" : "", hint_of_rounds(ratio));
    }

    /// Scopes of two groups that break each other: a block would come from the inner scope and outlive it. The group
    /// that saves less gets the next kind that fits.
    /// Returns   whether there were such groups.
    bool part_scopes() {
        for (std::size_t i = 0; i < made_.groups.size(); ++i) {
            for (std::size_t j = i + 1; j < made_.groups.size(); ++j) {
                const advised_group &one = made_.groups[i], &other = made_.groups[j];
                if (!breaks_scopes(one, other) && !breaks_scopes(other, one)) continue;
                const bool keeps_one = one.saving.saved_ns.median >= other.saving.saved_ns.median;
                const std::size_t parted = keeps_one ? j : i;
                add_reason(parted,
                           fmt::format("it would fit Temp, but not beside group {}: a block of one would come from the "
                                       "scope of the other and outlive it",
                                       (keeps_one ? i : j) + 1));
                prove(parted);
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool breaks_scopes(const advised_group& of, const advised_group& by) const {
        return of.advice.kind == advice_kind::temp && by.advice.kind == advice_kind::temp &&
               outlives(*of.group, lives_, by.advice.scopes);
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
    std::vector<std::size_t> next_;                  // in fits_: what was not tried
    std::vector<std::string> tried_;                 // by index in made_.groups: why these were not proven
    replay_settings search_;
    std::uint64_t runs_ = 0;
    advice_report made_;
};

}

advice_report advise_on(const trace& recorded, const found_malloc& base, const advice_settings& settings) {
    const replay_plan plan = make_plan(recorded);
    advice_report refused;
    refused.error = plan.ok() ? why_too_large(plan) : plan.error;
    if (!refused.error.empty()) return refused;
    advising work(recorded, base, settings);
    work.add_facts(plan);
    work.choose_groups();
    work.prove();
    work.look_at_accesses();
    return work.take();
}

}
