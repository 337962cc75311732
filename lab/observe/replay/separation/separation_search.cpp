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
    separation_search(const trace& recorded, separation_replay& replay, const search_progress& progress)
        : recorded_(recorded), replay_(replay), progress_(progress), tree_(recorded), maker_(recorded, tree_),
          guesses_(maker_.all()) {
        trials_left_ =
            std::clamp(replayed_events / std::max<std::uint64_t>(recorded.events.size(), 1), least_trials, most_trials);
    }

    /// Puts what helps into the report. The trace's events are not needed any more.
    void search(separation_report& to) {
        say(1, "without advice");
        const std::vector<std::vector<std::uint8_t>> none(1);
        const std::vector<separated_memory> before = replay_.measure(none, which_memory::all);
        if (before.empty()) return;
        to.learned.before = to.learned.after = before_ = before.front();
        const auto could_fall = [](double held, double live) { return falls(held, std::min(held, live)); };
        if (!could_fall(before_.trimmed, to.learned.mean_live) &&
            !could_fall(before_.peak, static_cast<double>(to.learned.peak_bytes)))
            return;
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
        prove(to);
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

    [[nodiscard]] double score_of(const trial& of, const separated_memory& memory) const {
        const std::vector<site_figures> sums = maker_.sums(of.guess.classes);
        std::uint64_t all = 0;
        for (const site_figures& each : sums) all += each.calls;
        const double separated = static_cast<double>(all - sums[ordinary_class].calls);
        const double share = separated / static_cast<double>(std::max<std::uint64_t>(all, 1));
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

    /// Measures all figures of the best, and takes the first that is better.
    void prove(separation_report& to) {
        for (std::size_t i = 0; i < std::min(trials_.size(), proven_at_most) && !interrupted(); ++i) {
            const std::vector<std::vector<std::uint8_t>> one{trials_[i].by_stack};
            const std::vector<separated_memory> after = replay_.measure(one, which_memory::all);
            if (after.empty()) return;
            separation_figures figures = to.learned;
            figures.after = after.front();
            if (i == 0) to.learned = figures; // shown if nothing is better
            if (!figures.is_better()) continue;
            to.learned = figures;
            to.advised = trials_[i].advised;
            to.how = trials_[i].guess.how;
            return;
        }
    }

    const trace& recorded_;
    separation_replay& replay_;
    const search_progress& progress_;
    site_tree tree_;
    partition_maker maker_;
    std::vector<partition> guesses_;
    separated_memory before_;
    std::vector<trial> trials_; // the best first
    std::map<std::vector<std::uint8_t>, bool> known_;
    std::uint64_t trials_left_;
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

std::string no_saving(const separation_figures& of) {
    return fmt::format("No separation saves memory: the heap holds {:.2f} bytes per live byte.",
                       of.before.trimmed / std::max(of.mean_live, 1.0));
}

void release_events(trace& of) { std::vector<trace_event>().swap(of.events); }

}

bool separation_figures::is_better() const {
    return (falls(before.trimmed, after.trimmed) || falls(before.peak, after.peak)) &&
           !rises(before.peak, after.peak) && !rises(before.mean, after.mean);
}

separation_report find_separation(trace& recorded, const separation_replay_settings& settings,
                                  const search_progress& progress) {
    separation_report made;
    made.events = recorded.events.size();
    made.damage = recorded.damage;
    separation_replay replay(recorded, settings);
    made.error = replay.error();
    if (!made.error.empty()) return made;
    made.learned.mean_live = replay.mean_live();
    made.learned.peak_bytes = replay.peak_bytes();
    const std::vector<site_figures> figures = figures_of_stacks(recorded);
    separation_search search(recorded, replay, progress);
    release_events(recorded);
    search.search(made);
    made.error = replay.error();
    made.replays = replay.replays();
    add_sites(made, recorded, figures);
    if (made.advised.sites.empty()) made.refusal = no_saving(made.learned);
    return made;
}

void check_separation(separation_report& found, trace& other, const std::string& name,
                      const separation_replay_settings& settings) {
    separation_replay replay(other, settings);
    release_events(other);
    const std::vector<std::vector<std::uint8_t>> both{{}, classes_of(other, found.advised)};
    const std::vector<separated_memory> memory = replay.measure(both, which_memory::all);
    found.replays += replay.replays();
    if (!replay.error().empty()) found.error = fmt::format("{}: {}", name, replay.error());
    if (memory.size() != both.size()) return;
    separation_figures figures{memory[0], memory[1], replay.mean_live(), replay.peak_bytes()};
    found.checked.push_back(figures);
    if (figures.is_better() || found.advised.sites.empty()) return;
    found.advised = {};
    found.sites.clear();
    found.separated_calls = 0;
    found.refusal =
        fmt::format("The separation that saves memory in the first trace does not in {}: no site is advised.", name);
}

}
