// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/separation/separation_search.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/harness/worker/interrupt.hpp"
#include "observe/replay/separation/partitions.hpp"
#include "observe/replay/separation/site_tree.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;
constexpr double least_gain = 0.03, most_rise = 0.01; ///< of memory without advice
constexpr double least_gain_bytes = mebibyte;
constexpr double least_promise = 0.01; ///< of guesses, or they are not changed

// A class takes time in every call that it has, and every site takes room in the program's table. The search weighs
// them against memory: a class with all calls must save so much, and a site so much.
constexpr double cost_of_calls = 0.02, cost_of_site = 1e-4;

/// Replays that fit in about a minute, and what the search needs at least.
constexpr std::uint64_t replayed_events = 400'000'000, least_trials = 24, most_trials = 160;
constexpr std::size_t proven_at_most = 6; ///< of the best, until one of them is better in everything
constexpr std::uint32_t steps = 5;

bool falls(double before, double after) { return before - after >= std::max(least_gain * before, least_gain_bytes); }
bool rises(double before, double after) { return after > before * (1 + most_rise); }

/// The classes from 1 on, without gaps: the one with the most held bytes first.
void renumber(std::vector<std::uint8_t>& classes, const std::vector<site_figures>& sums) {
    std::vector<std::size_t> order(sums.size() - 1);
    std::iota(order.begin(), order.end(), std::size_t{1});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sums[a].held > sums[b].held; });
    std::vector<std::uint8_t> now(sums.size());
    for (std::size_t i = 0; i < order.size(); ++i) now[order[i]] = static_cast<std::uint8_t>(i + 1);
    for (std::uint8_t& each : classes) each = now[each];
}

class separation_search {
public:
    separation_search(const trace& recorded, const std::vector<site_figures>& figures, separation_replay& replay,
                      const search_progress& progress)
        : recorded_(recorded), figures_(figures), replay_(replay), progress_(progress), tree_(recorded),
          maker_(recorded, tree_), guesses_(maker_.all()) {
        trials_left_ =
            std::clamp(replayed_events / std::max<std::uint64_t>(recorded.events.size(), 1), least_trials, most_trials);
    }

    /// Puts what helps into the report. The trace's events are not needed any more.
    void search(separation_report& to) {
        say(1, "without advice");
        const std::vector<std::vector<std::uint8_t>> none(1);
        const std::vector<separated_memory> before = replay_.measure(none, which_memory::all);
        if (before.empty()) return;
        before_ = before.front();
        to.refusal = why_no_search(to.learned);
        if (!to.refusal.empty()) {
            show(to, {});
            return;
        }
        say(2, "guesses");
        try_all(guesses_);
        if (!trials_.empty() && trials_.front().score < before_.trimmed * (1 - least_promise)) {
            say(3, "fewer classes");
            while (make_smaller()) {}
            say(4, "more classes");
            if (add_classes()) {
                while (make_smaller()) {}
            }
        }
        say(5, "peak");
        to.candidates = candidates_;
        if (prove(to)) return;
        to.refusal =
            fmt::format("None of {} candidates saves 3 % and 1 MiB: the heap holds {:.2f} bytes per live byte.",
                        candidates_, before_.trimmed / std::max(to.learned.mean_live, 1.0));
        show(to, {});
    }

private:
    struct trial {
        partition guess;
        separation advised;
        std::vector<std::uint8_t> by_stack;
        double score = 0;
    };

    void say(std::uint32_t step, const std::string& what) const {
        if (progress_) progress_(step, steps, what);
    }

    /// Why no advice could help, in a sentence; empty when one could.
    [[nodiscard]] std::string why_no_search(const separation_figures& of) const {
        if (tree_.size() == 1)
            return "No call site lies in the code of a file with a build ID, so a later run could not recognise it.";
        const double peak_live = static_cast<double>(of.peak_bytes);
        const auto could_fall = [](double held, double live) { return falls(held, std::min(held, live)); };
        if (could_fall(before_.trimmed, of.mean_live) || could_fall(before_.peak, peak_live)) return {};
        const double most = std::max(before_.trimmed - of.mean_live, before_.peak - peak_live);
        return fmt::format("{} could be saved: the heap holds {:.2f} bytes per live byte.",
                           most < least_gain_bytes ? "Fewer than 1 MiB" : "Less than 3 %",
                           before_.trimmed / std::max(of.mean_live, 1.0));
    }

    [[nodiscard]] double score_of(const trial& of, const separated_memory& memory) const {
        // Of the classes that were replayed: calls without a site of their own have another one than in the guess.
        const double share = separated_share(figures_, of.by_stack);
        return memory.trimmed +
               before_.trimmed * (cost_of_calls * share + cost_of_site * static_cast<double>(of.advised.sites.size()));
    }

    /// Replays the guesses that were not replayed before, and inserts them in trials_ by their score.
    void try_all(std::vector<partition> guesses) {
        std::vector<trial> made;
        std::vector<std::vector<std::uint8_t>> assigned;
        for (partition& each : guesses) {
            if (trials_left_ == 0) break;
            trial one;
            renumber(each.classes, maker_.sums(each.classes));
            one.guess = std::move(each);
            one.advised = maker_.sites_for(one.guess.classes);
            const bool is_within =
                one.advised.sites.size() <= max_advice_sites && one.advised.objects.size() <= max_advice_objects;
            if (one.advised.sites.empty() || !is_within) continue;
            one.by_stack = classes_of(recorded_, one.advised);
            if (!known_.try_emplace(one.by_stack, true).second) continue;
            --trials_left_;
            ++candidates_;
            assigned.push_back(one.by_stack);
            made.push_back(std::move(one));
        }
        const std::vector<separated_memory> memory = replay_.measure(assigned, which_memory::trimmed);
        for (std::size_t i = 0; i < memory.size(); ++i) {
            made[i].score = score_of(made[i], memory[i]);
            trials_.push_back(std::move(made[i]));
        }
        std::stable_sort(trials_.begin(), trials_.end(),
                         [](const trial& a, const trial& b) { return a.score < b.score; });
    }

    /// Tries the best with each class ordinary, and with each two classes as one.
    /// Returns   whether one of these is better.
    [[nodiscard]] bool make_smaller() {
        if (trials_.empty() || trials_left_ == 0 || interrupted()) return false;
        const partition best = trials_.front().guess;
        const double score = trials_.front().score;
        std::vector<partition> made;
        const auto with = [&](std::uint8_t from, std::uint8_t to) {
            partition one = best;
            std::replace(one.classes.begin(), one.classes.end(), from, to);
            made.push_back(std::move(one));
        };
        const std::uint8_t count = *std::max_element(best.classes.begin(), best.classes.end());
        if (count > 1)
            for (std::uint8_t number = 1; number <= count; ++number) with(number, ordinary_class);
        for (std::uint8_t to = 1; to < count; ++to)
            for (std::uint8_t from = to + 1; from <= count; ++from) with(from, to);
        try_all(std::move(made));
        return trials_.front().score < score;
    }

    /// Tries the best with each large group of ordinary calls in a class of its own, while there are classes.
    /// Returns   whether one of these is better.
    [[nodiscard]] bool add_classes() {
        bool is_better = false;
        while (!trials_.empty() && trials_left_ != 0 && !interrupted()) {
            const double score = trials_.front().score;
            try_all(maker_.with_one_more(trials_.front().guess));
            if (trials_.front().score >= score) break;
            is_better = true;
        }
        return is_better;
    }

    /// Measures the figures that are shown, without the classes and with them. No classes: both are without.
    /// Returns   whether they were measured.
    bool show(separation_report& to, const std::vector<std::uint8_t>& by_stack) {
        std::vector<std::vector<std::uint8_t>> compared(1);
        if (!by_stack.empty()) compared.push_back(by_stack);
        const std::vector<separated_memory> found = replay_.measure(compared, which_memory::all, shown_repeats);
        if (found.empty()) return false;
        to.learned.before = found.front();
        to.learned.after = found.back();
        return true;
    }

    /// Measures all figures of the best, and takes the first that is better.
    /// Returns   whether there is one.
    [[nodiscard]] bool prove(separation_report& to) {
        for (std::size_t i = 0; i < std::min(trials_.size(), proven_at_most) && !interrupted(); ++i) {
            const std::vector<std::vector<std::uint8_t>> one{trials_[i].by_stack};
            const std::vector<separated_memory> after = replay_.measure(one, which_memory::all);
            if (after.empty()) return false;
            if (!separation_figures{before_, after.front(), 0, 0}.is_better()) continue;
            if (!show(to, trials_[i].by_stack)) return false;
            if (!to.learned.is_better()) continue; // one replay was chance
            to.advised = trials_[i].advised;
            to.origin = trials_[i].guess.origin;
            return true;
        }
        return false;
    }

    const trace& recorded_;
    const std::vector<site_figures>& figures_; // by stack
    separation_replay& replay_;
    const search_progress& progress_;
    site_tree tree_;
    partition_maker maker_;
    std::vector<partition> guesses_;
    separated_memory before_;
    std::vector<trial> trials_; // the best first
    std::map<std::vector<std::uint8_t>, bool> known_;
    std::uint64_t trials_left_, candidates_ = 0;
};

void add_sites(separation_report& to, const trace& recorded, const std::vector<site_figures>& figures) {
    const std::vector<std::uint32_t> sites = sites_of(recorded, to.advised);
    for (const advice_site& each : to.advised.sites) to.sites.push_back({each.number, each.frames.size(), 0, 0, {}});
    for (std::uint32_t stack = 0; stack < sites.size(); ++stack) {
        to.calls += figures[stack].calls;
        if (sites[stack] == no_site || figures[stack].calls == 0) continue;
        separated_site& site = to.sites[sites[stack]];
        site.sum += figures[stack];
        ++site.stacks;
        if (site.stack == 0 || figures[stack].held > figures[site.stack].held) site.stack = stack;
        if (site.number != ordinary_class) to.separated_calls += figures[stack].calls;
    }
}

void release_events(trace& of) { std::vector<trace_event>().swap(of.events); }

}

bool separation_figures::is_better() const {
    return (falls(before.trimmed, after.trimmed) || falls(before.peak, after.peak)) &&
           !rises(before.peak, after.peak) && !rises(before.mean, after.mean) &&
           !rises(before.trimmed_peak, after.trimmed_peak);
}

std::string why_no_separation(const trace& recorded) {
    const bool has_stacks = std::any_of(recorded.stacks.begin(), recorded.stacks.end(),
                                        [](const trace_stack& each) { return !each.frames.empty(); });
    return has_stacks ? std::string{} : "the trace has no call stacks: record it with --stacks 16";
}

bool is_same_run(const trace& one, const trace& other) {
    return one.recording != 0 && one.recording == other.recording && one.process == other.process &&
           one.started_ms == other.started_ms;
}

separation_report find_separation(trace& recorded, const separation_replay_settings& settings,
                                  const search_progress& progress) {
    separation_report made;
    made.events = recorded.events.size();
    made.damage = recorded.damage;
    separation_replay replay(recorded, settings);
    made.error = replay.error().empty() ? why_no_separation(recorded) : replay.error();
    if (!made.error.empty()) return made;
    made.learned.mean_live = replay.mean_live();
    made.learned.peak_bytes = replay.peak_bytes();
    const std::vector<site_figures> figures = figures_of_stacks(recorded);
    separation_search search(recorded, figures, replay, progress);
    release_events(recorded);
    search.search(made);
    made.error = replay.error();
    made.replays = replay.replays();
    add_sites(made, recorded, figures);
    return made;
}

void check_separation(separation_report& found, trace& other, const std::string& name,
                      const separation_replay_settings& settings) {
    separation_replay replay(other, settings);
    checked_run made{name, other.damage, {}};
    release_events(other);
    const std::vector<std::vector<std::uint8_t>> both{{}, classes_of(other, found.advised)};
    const std::vector<separated_memory> memory = replay.measure(both, which_memory::all, shown_repeats);
    found.replays += replay.replays();
    if (!replay.error().empty()) found.error = fmt::format("{}: {}", name, replay.error());
    if (memory.size() != both.size()) return;
    made.figures = {memory[0], memory[1], replay.mean_live(), replay.peak_bytes()};
    const bool is_better = made.figures.is_better();
    found.checked.push_back(std::move(made));
    if (is_better || found.advised.sites.empty()) return;
    found.advised = {};
    found.sites.clear();
    found.separated_calls = 0;
    found.refusal = fmt::format(
        "The separation that saves memory in the first trace does not in {}: no site is advised.", printable(name));
}

}
