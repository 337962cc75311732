// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/affinity/co_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tenure::lab {

namespace {

// The numbers are choices. Two blocks that a visit touches together are together in nearly each access; a share of a
// half allows for visits that only sometimes go on to the second block.
constexpr double least_near_share = 0.5;
constexpr double least_above_chance = 4;                     ///< times what chance explains
constexpr std::uint64_t least_accesses = 6, least_pairs = 3; ///< of each half
constexpr std::uint64_t enough_crossed = 6;
constexpr std::uint64_t pairs_for_medium = 15, pairs_for_high = 50;

/// What frees a block, or the list that it is in, touches it shortly before. Times of events are rounded down, and what
/// is behind them may be of the malloc, or of the next block at the address.
constexpr std::uint64_t free_margin_ns = 100'000;
/// A hit can take twice as long as those that were measured at the beginning: the machine has other work.
constexpr std::uint64_t hit_slack = 2;

constexpr std::size_t deepest_site = 8; ///< frames

struct timed_access {
    std::uint64_t time_ns;
    std::uint32_t thread;
    std::int64_t place; ///< among the hits of its thread in the window
};

/// The accesses of a block in a window, while they say something.
struct watched_time {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::vector<timed_access> accesses;

    [[nodiscard]] std::uint64_t length_ns() const { return end_ns - begin_ns; }
};

[[nodiscard]] watched_time time_of(const access_window& window, const watched_block& block, const block_life& life) {
    const std::uint64_t dies_ns =
        life.is_freed() ? life.died.time_ns - std::min(life.died.time_ns, free_margin_ns) : never;
    watched_time made;
    made.begin_ns = std::max(window.begin_ns, life.born.time_ns);
    made.end_ns = std::min(window.end_ns, dies_ns);
    if (window.max_hits != 0 && block.count >= window.max_hits && !block.accesses.empty())
        made.end_ns = std::min(made.end_ns, block.accesses.back().time_ns);
    made.end_ns = std::max(made.begin_ns, made.end_ns);
    for (const trace_access& each : block.accesses)
        if (each.time_ns >= made.begin_ns && each.time_ns <= made.end_ns)
            made.accesses.push_back({each.time_ns, each.thread, 0});
    return made;
}

void set_places(std::vector<watched_time>& times) {
    std::vector<timed_access*> all;
    for (watched_time& each : times)
        for (timed_access& access : each.accesses) all.push_back(&access);
    std::stable_sort(all.begin(), all.end(),
                     [](const timed_access* a, const timed_access* b) { return a->time_ns < b->time_ns; });
    std::map<std::uint32_t, std::int64_t> next; // by thread
    for (timed_access* const each : all) each->place = next[each->thread]++;
}

/// Whether two accesses are together. Each hit from the first to the second takes time.
[[nodiscard]] bool are_together(const timed_access& a, const timed_access& b, std::uint64_t hit_ns) {
    constexpr std::int64_t most_hits = 4;
    const std::int64_t hits = std::abs(a.place - b.place);
    const std::uint64_t between_ns = a.time_ns > b.time_ns ? a.time_ns - b.time_ns : b.time_ns - a.time_ns;
    return a.thread == b.thread && hits <= most_hits &&
           between_ns <= together_ns + static_cast<std::uint64_t>(hits) * hit_slack * hit_ns;
}

[[nodiscard]] std::span<const timed_access> until(const std::vector<timed_access>& of, std::uint64_t end_ns) {
    std::size_t count = of.size();
    while (count != 0 && of[count - 1].time_ns > end_ns) --count;
    return std::span(of).first(count);
}

/// How many accesses of `one` have one of `other` near them, on the same thread.
[[nodiscard]] std::uint64_t near_of(std::span<const timed_access> one, std::span<const timed_access> other,
                                    std::uint64_t hit_ns) {
    return static_cast<std::uint64_t>(std::count_if(one.begin(), one.end(), [&](const timed_access& each) {
        return std::any_of(other.begin(), other.end(),
                           [&](const timed_access& near) { return are_together(each, near, hit_ns); });
    }));
}

/// The chance that one of `count` accesses in a time is near a given moment.
[[nodiscard]] double chance_of(std::size_t count, std::uint64_t length_ns, std::uint64_t near_ns) {
    if (length_ns == 0) return 1;
    return 1 -
           std::exp(-2.0 * static_cast<double>(near_ns) * static_cast<double>(count) / static_cast<double>(length_ns));
}

[[nodiscard]] pair_figures figures_of_pair(const watched_time& a, const watched_time& b, std::uint64_t hit_ns) {
    const std::uint64_t begin_ns = std::max(a.begin_ns, b.begin_ns), end_ns = std::min(a.end_ns, b.end_ns);
    const std::span<const timed_access> one = until(a.accesses, end_ns), other = until(b.accesses, end_ns);
    pair_figures made;
    if (one.empty() || other.empty() || end_ns <= begin_ns) return made;
    const std::uint64_t length_ns = end_ns - begin_ns, near_ns = together_ns + hit_slack * hit_ns;
    made.pairs = 1;
    made.accesses = one.size() + other.size();
    made.near = near_of(one, other, hit_ns) + near_of(other, one, hit_ns);
    made.near_pairs = std::uint64_t{made.near != 0};
    made.by_chance = static_cast<double>(one.size()) * chance_of(other.size(), length_ns, near_ns) +
                     static_cast<double>(other.size()) * chance_of(one.size(), length_ns, near_ns);
    return made;
}

class co_access_finder {
public:
    co_access_finder(const trace& recorded, std::span<const block_life> lives) : recorded_(recorded), lives_(lives) {}

    co_access find() {
        for (block_group& each : groups_of(recorded_, lives_)) add_site(std::move(each));
        made_.site_of_block.assign(recorded_.blocks, no_call_site);
        for (std::size_t index = 0; index < made_.sites.size(); ++index)
            for (const std::uint64_t block : made_.sites[index]->blocks)
                made_.site_of_block[block] = static_cast<std::uint32_t>(index);
        made_.touches.resize(made_.sites.size());
        number_blocks();
        for (std::size_t index = 0; index < recorded_.windows.size(); ++index)
            add_window(recorded_.windows[index], index % 2 == 0);
        for (auto& [key, pair] : pairs_) {
            judge(pair.made);
            pair.made.relations.assign(pair.relations.begin(), pair.relations.end());
            made_.pairs.push_back(std::move(pair.made));
        }
        std::stable_sort(made_.pairs.begin(), made_.pairs.end(), [](const site_pair& a, const site_pair& b) {
            const auto accesses = [](const site_pair& of) { return of.learned.accesses + of.checked.accesses; };
            return std::pair(a.is_together, accesses(a)) > std::pair(b.is_together, accesses(b));
        });
        return std::move(made_);
    }

private:
    struct growing_pair {
        site_pair made;
        std::set<block_relation> relations;
    };

    /// A function that allocates blocks of different sizes for its callers is no site: they are.
    void add_site(block_group&& group) {
        if (size_class_of(group.smallest) != size_class_of(group.largest) && group.depth < deepest_site) {
            std::vector<block_group> callers = by_caller(recorded_, group, lives_);
            if (callers.size() > 1) {
                for (block_group& each : callers) add_site(std::move(each));
                return;
            }
        }
        made_.sites.push_back(std::make_shared<const block_group>(std::move(group)));
    }

    /// The place of each block in the order of its thread's allocations and resizes, as the recorder numbers them.
    void number_blocks() {
        numbers_.resize(recorded_.blocks);
        std::vector<std::uint64_t> next(recorded_.threads);
        for (const trace_event& each : recorded_.events) {
            if (each.call == trace_call::allocate) numbers_[each.block] = next[each.thread];
            if (each.call == trace_call::allocate || each.call == trace_call::resize) ++next[each.thread];
        }
    }

    void add_window(const access_window& window, bool is_learned) {
        std::vector<watched_time> times;
        for (const watched_block& each : window.blocks) times.push_back(time_of(window, each, lives_[each.block]));
        if (window.choice == window_choice::random) {
            for (std::size_t index = 0; index < times.size(); ++index) add_touches(window.blocks[index], times[index]);
            return;
        }
        set_places(times);
        for (std::size_t index = 0; index + 1 < times.size(); index += 2) {
            growing_pair* const pair = pair_of(window, index, index + 1);
            if (pair == nullptr) continue;
            const pair_figures figures = figures_of_pair(times[index], times[index + 1], window.hit_ns);
            (is_learned ? pair->made.learned : pair->made.checked).add(figures);
            if (figures.near != 0) pair->relations.insert(relation_of(window, index));
            // A block of each couple: they have the same sites as the couple.
            for (std::size_t other = 0; other + 1 < times.size(); other += 2)
                if (other != index)
                    pair->made.crossed.add(figures_of_pair(times[index], times[other + 1], window.hit_ns));
        }
    }

    void add_touches(const watched_block& block, const watched_time& time) {
        const std::uint32_t site = made_.site_of_block[block.block];
        if (site == no_call_site || time.length_ns() == 0) return;
        site_touches& to = made_.touches[site];
        ++to.watched;
        to.touched += std::uint64_t{!time.accesses.empty()};
        to.watched_ns += time.length_ns();
    }

    [[nodiscard]] growing_pair* pair_of(const access_window& window, std::size_t one, std::size_t other) {
        std::uint32_t first = made_.site_of_block[window.blocks[one].block];
        std::uint32_t second = made_.site_of_block[window.blocks[other].block];
        if (first == no_call_site || second == no_call_site) return nullptr;
        if (first > second) std::swap(first, second);
        growing_pair& pair = pairs_[{first, second, window.choice}];
        pair.made.first = first;
        pair.made.second = second;
        pair.made.choice = window.choice;
        return &pair;
    }

    [[nodiscard]] block_relation relation_of(const access_window& window, std::size_t index) const {
        const std::uint64_t one = window.blocks[index].block, other = window.blocks[index + 1].block;
        const std::uint64_t distance = window.choice == window_choice::successive ? numbers_[other] - numbers_[one] : 0;
        return {window.choice, distance, lives_[one].born.stack, lives_[other].born.stack};
    }

    [[nodiscard]] static bool is_clear(const pair_figures& of) {
        return of.accesses >= least_accesses && of.pairs >= least_pairs && of.near_share() >= least_near_share &&
               of.near_share() >= least_above_chance * of.chance_share();
    }

    static void judge(site_pair& of) {
        if (!is_clear(of.learned) || !is_clear(of.checked)) return;
        const bool has_crossed = of.crossed.accesses >= enough_crossed;
        if (has_crossed && of.checked.near_share() < least_above_chance * of.crossed.near_share()) return;
        of.is_together = true;
        const std::uint64_t pairs = of.learned.pairs + of.checked.pairs;
        if (pairs >= pairs_for_medium && has_crossed) of.degree = confidence::medium;
        if (pairs >= pairs_for_high && has_crossed) of.degree = confidence::high;
    }

    const trace& recorded_;
    std::span<const block_life> lives_;
    std::vector<std::uint64_t> numbers_; // by block
    std::map<std::tuple<std::uint32_t, std::uint32_t, window_choice>, growing_pair> pairs_;
    co_access made_;
};

}

void pair_figures::add(const pair_figures& other) {
    pairs += other.pairs;
    near_pairs += other.near_pairs;
    accesses += other.accesses;
    near += other.near;
    by_chance += other.by_chance;
}

co_access find_co_access(const trace& recorded, std::span<const block_life> lives) {
    return co_access_finder(recorded, lives).find();
}

}
