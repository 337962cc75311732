// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/affinity/co_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenure::lab {

namespace {

// The numbers are choices. Two blocks that a visit touches together are together in nearly each access; a share of a
// half allows for visits that only sometimes go on to the second block.
constexpr double least_near_share = 0.5;
constexpr double least_above_chance = 4;                     ///< times what chance explains
constexpr std::uint64_t least_accesses = 6, least_pairs = 3; ///< of each half
constexpr std::uint64_t enough_crossed = 6;
constexpr std::uint64_t pairs_for_medium = 15, pairs_for_high = 50;
constexpr double most_chance = 0.05; ///< that any pair of call sites seems to be together, and is not

/// In a window in which the program hardly ran, an untouched block says nothing.
constexpr std::uint64_t least_active_ns = 1'000'000;

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

/// An access is looked at with those of other blocks that are at most so many hits of its thread away.
constexpr std::int64_t most_hits_between = 4;

[[nodiscard]] std::pair<std::uint32_t, std::int64_t> place_in_thread(const timed_access& of) {
    return {of.thread, of.place};
}

/// Numbers the accesses of each thread, and sorts those of each block by thread and number.
void set_places(std::vector<watched_time>& times) {
    std::vector<timed_access*> all;
    for (watched_time& each : times)
        for (timed_access& access : each.accesses) all.push_back(&access);
    std::stable_sort(all.begin(), all.end(),
                     [](const timed_access* a, const timed_access* b) { return a->time_ns < b->time_ns; });
    std::map<std::uint32_t, std::int64_t> next; // by thread
    for (timed_access* const each : all) each->place = next[each->thread]++;
    for (watched_time& each : times)
        std::sort(each.accesses.begin(), each.accesses.end(),
                  [](const timed_access& a, const timed_access& b) { return place_in_thread(a) < place_in_thread(b); });
}

/// What may lie between two accesses that are together. Each hit from the first to the second takes time.
[[nodiscard]] std::uint64_t allowed_ns(const timed_access& a, const timed_access& b, std::uint64_t hit_ns) {
    return together_ns + static_cast<std::uint64_t>(std::abs(a.place - b.place)) * hit_slack * hit_ns;
}

[[nodiscard]] std::vector<timed_access> until(const std::vector<timed_access>& of, std::uint64_t end_ns) {
    std::vector<timed_access> made;
    for (const timed_access& each : of)
        if (each.time_ns <= end_ns) made.push_back(each);
    return made;
}

struct near_accesses {
    std::uint64_t count = 0, widest_ns = 0;
};

/// How many accesses of `one` have one of `other` near them, on the same thread. Cost   O(both), because only the
/// neighbours in the thread's order are looked at.
[[nodiscard]] near_accesses near_of(std::span<const timed_access> one, std::span<const timed_access> other,
                                    std::uint64_t hit_ns) {
    near_accesses made;
    auto begin = other.begin();
    for (const timed_access& each : one) {
        const std::pair first{each.thread, each.place - most_hits_between};
        while (begin != other.end() && place_in_thread(*begin) < first) ++begin;
        std::uint64_t least_ns = 0;
        for (auto at = begin;
             at != other.end() && at->thread == each.thread && at->place <= each.place + most_hits_between; ++at) {
            const std::uint64_t between_ns = std::max(at->time_ns, each.time_ns) - std::min(at->time_ns, each.time_ns);
            const std::uint64_t allowed = allowed_ns(*at, each, hit_ns);
            if (between_ns <= allowed && (least_ns == 0 || allowed < least_ns)) least_ns = allowed;
        }
        made.count += std::uint64_t{least_ns != 0};
        made.widest_ns = std::max(made.widest_ns, least_ns);
    }
    return made;
}

/// The chance that one of `count` accesses in a time is near a given moment.
[[nodiscard]] double chance_of(std::size_t count, std::uint64_t length_ns, std::uint64_t near_ns) {
    if (length_ns == 0) return 1;
    return 1 -
           std::exp(-2.0 * static_cast<double>(near_ns) * static_cast<double>(count) / static_cast<double>(length_ns));
}

[[nodiscard]] pair_figures figures_of_pair(const watched_time& a, const watched_time& b, std::uint64_t hit_ns) {
    const std::uint64_t begin_ns = std::max(a.begin_ns, b.begin_ns), end_ns = std::min(a.end_ns, b.end_ns);
    const std::vector<timed_access> one = until(a.accesses, end_ns), other = until(b.accesses, end_ns);
    pair_figures made;
    if (one.empty() || other.empty() || end_ns <= begin_ns) return made;
    const near_accesses of_one = near_of(one, other, hit_ns), of_other = near_of(other, one, hit_ns);
    made.widest_ns = std::max(of_one.widest_ns, of_other.widest_ns);
    // Where hits of other blocks lie between, more time is allowed, and chance explains more.
    const std::uint64_t length_ns = end_ns - begin_ns,
                        near_ns = std::max(made.widest_ns, together_ns + hit_slack * hit_ns);
    made.pairs = 1;
    made.accesses = one.size() + other.size();
    made.near = of_one.count + of_other.count;
    made.by_chance = static_cast<double>(one.size()) * chance_of(other.size(), length_ns, near_ns) +
                     static_cast<double>(other.size()) * chance_of(one.size(), length_ns, near_ns);
    return made;
}

/// The chance of at least `least` successes in `count` trials.
[[nodiscard]] double binomial_chance(std::uint64_t least, std::uint64_t count, double each) {
    if (least == 0 || each >= 1) return 1;
    const double all = static_cast<double>(count);
    double sum = 0;
    for (std::uint64_t index = least; index <= count; ++index) {
        const double successes = static_cast<double>(index);
        sum += std::exp(std::lgamma(all + 1) - std::lgamma(successes + 1) - std::lgamma(all - successes + 1) +
                        successes * std::log(each) + (all - successes) * std::log1p(-each));
    }
    return std::min(sum, 1.0);
}

/// The chance that so many of the checked pairs are near although the call sites are not together. How often that
/// happens to one pair, the window and the blocks of different couples say; the larger figure counts.
[[nodiscard]] double chance_of_near(const site_pair& of) {
    const pair_figures& checked = of.checked;
    if (checked.pairs == 0) return 1;
    const double by_window = checked.near_pairs_by_chance / static_cast<double>(checked.pairs);
    const double by_crossed = static_cast<double>(of.crossed.near_pairs + 1) /
                              static_cast<double>(of.crossed.pairs + 2); // a few are no proof
    return binomial_chance(checked.near_pairs, checked.pairs, std::max(by_window, by_crossed));
}

/// Holm's correction: of many pairs of call sites, some are near by chance. Those that are left keep the chance of one
/// error among all below most_chance.
void require_beyond_chance(std::vector<site_pair>& of) {
    std::vector<site_pair*> all;
    for (site_pair& each : of)
        if (each.learned.pairs + each.checked.pairs != 0) all.push_back(&each);
    std::stable_sort(all.begin(), all.end(),
                     [](const site_pair* a, const site_pair* b) { return a->chance < b->chance; });
    bool is_beyond = true;
    for (std::size_t index = 0; index < all.size(); ++index) {
        is_beyond = is_beyond && all[index]->chance * static_cast<double>(all.size() - index) <= most_chance;
        all[index]->is_together = all[index]->is_together && is_beyond;
    }
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
            for (const auto& [blocks, seen] : pair.couples)
                seen.add_to(seen.is_learned ? pair.made.learned : pair.made.checked);
            for (const auto& [blocks, seen] : pair.crossed) seen.add_to(pair.made.crossed);
            judge(pair.made);
            pair.made.relations.assign(pair.relations.begin(), pair.relations.end());
            made_.pairs.push_back(std::move(pair.made));
        }
        require_beyond_chance(made_.pairs);
        std::stable_sort(made_.pairs.begin(), made_.pairs.end(), [](const site_pair& a, const site_pair& b) {
            const auto accesses = [](const site_pair& of) { return of.learned.accesses + of.checked.accesses; };
            return std::pair(a.is_together, accesses(a)) > std::pair(b.is_together, accesses(b));
        });
        return std::move(made_);
    }

private:
    /// Two blocks that were watched in the same windows, and what all of these say.
    struct seen_pair {
        bool is_learned = false;
        pair_figures all;

        /// However many windows they are of, they are one pair. It is near if its accesses are; that it is by chance
        /// has at most the chance of one access divided by the share (Markov), whatever the accesses have in common.
        void add_to(pair_figures& to) const {
            if (all.accesses == 0) return;
            pair_figures one = all;
            one.pairs = 1;
            one.near_pairs = std::uint64_t{one.near_share() >= least_near_share};
            one.near_pairs_by_chance = std::min(one.chance_share() / least_near_share, 1.0);
            to.add(one);
        }
    };
    struct growing_pair {
        site_pair made;
        std::set<block_relation> relations;
        std::map<std::pair<std::uint64_t, std::uint64_t>, seen_pair> couples, crossed; ///< by blocks
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

    /// The place of each block in the order of its thread's allocations and resizes, as the recorder numbers them. Of a
    /// part the numbers count from its beginning, and older blocks have none.
    void number_blocks() {
        numbers_.resize(recorded_.blocks);
        std::vector<std::uint64_t> next(recorded_.threads);
        for (const trace_event& each : recorded_.events) {
            if (each.call == trace_call::allocate && is_older(each.block)) continue;
            if (each.call == trace_call::allocate) numbers_[each.block] = next[each.thread];
            if (each.call == trace_call::allocate || each.call == trace_call::resize) ++next[each.thread];
        }
    }

    void add_window(const access_window& window, bool is_learned) {
        std::vector<watched_time> times;
        for (const watched_block& each : window.blocks) times.push_back(time_of(window, each, lives_[each.block]));
        if (window.choice == window_choice::random) {
            for (std::size_t index = 0; index < times.size(); ++index)
                add_touches(window, window.blocks[index], times[index]);
            return;
        }
        set_places(times);
        // The relation of a couple is of names, and a resize changes a block's name, call stack and place.
        const auto is_couple = [&](std::size_t index) {
            return lives_[window.blocks[index].block].resizes == 0 &&
                   lives_[window.blocks[index + 1].block].resizes == 0;
        };
        for (std::size_t index = 0; index + 1 < times.size(); index += 2) {
            growing_pair* const pair = is_couple(index) ? pair_of(window, index, index + 1) : nullptr;
            if (pair == nullptr) continue;
            const auto blocks_of = [&](std::size_t one, std::size_t other) {
                return std::minmax({window.blocks[one].block, window.blocks[other].block});
            };
            const pair_figures figures = figures_of_pair(times[index], times[index + 1], window.hit_ns);
            // A pair of blocks that comes again stays in its half: the halves have no pair in common.
            pair->couples.try_emplace(blocks_of(index, index + 1), seen_pair{is_learned, {}})
                .first->second.all.add(figures);
            if (figures.near != 0) add_relation(window, index, pair->relations);
            // A block of each couple: they have the same sites as the couple.
            for (std::size_t other = 0; other + 1 < times.size(); other += 2) {
                if (other == index || !is_couple(other)) continue;
                pair->crossed[blocks_of(index, other + 1)].all.add(
                    figures_of_pair(times[index], times[other + 1], window.hit_ns));
            }
        }
    }

    void add_touches(const access_window& window, const watched_block& block, const watched_time& time) {
        const std::uint32_t site = made_.site_of_block[block.block];
        if (site == no_call_site || time.length_ns() == 0) return;
        if (window.processor_ns == access_window::unknown_ns || window.processor_ns < least_active_ns) return;
        site_touches& to = made_.touches[site];
        const auto [known, is_new] = touched_.try_emplace(block.block, false);
        to.watched += std::uint64_t{is_new};
        if (!time.accesses.empty() && !std::exchange(known->second, true)) ++to.touched;
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

    [[nodiscard]] bool is_older(std::uint64_t block) const { return block < recorded_.older_blocks; }

    /// A part does not tell the n-th blocks of two call stacks, nor how far apart older blocks were allocated.
    void add_relation(const access_window& window, std::size_t index, std::set<block_relation>& to) const {
        const std::uint64_t one = window.blocks[index].block, other = window.blocks[index + 1].block;
        const trace_moment &first = lives_[one].born, &second = lives_[other].born;
        if (window.choice == window_choice::matched) {
            if (!recorded_.is_part) to.insert({window.choice, 0, first.stack, second.stack});
            return;
        }
        if (is_older(one) || is_older(other) || first.thread != second.thread || numbers_[one] >= numbers_[other])
            return;
        to.insert({window.choice, numbers_[other] - numbers_[one], first.stack, second.stack});
    }

    [[nodiscard]] static bool is_clear(const pair_figures& of) {
        return of.accesses >= least_accesses && of.pairs >= least_pairs && of.near_share() >= least_near_share &&
               static_cast<double>(of.near_pairs) >= least_near_share * static_cast<double>(of.pairs) &&
               of.near_share() >= least_above_chance * of.chance_share();
    }

    static void judge(site_pair& of) {
        of.chance = chance_of_near(of);
        if (!is_clear(of.learned) || !is_clear(of.checked) || of.crossed.accesses < enough_crossed) return;
        if (of.checked.near_share() < least_above_chance * of.crossed.near_share()) return;
        of.is_together = true;
        const std::uint64_t pairs = of.learned.pairs + of.checked.pairs;
        if (pairs >= pairs_for_medium) of.degree = confidence::medium;
        if (pairs >= pairs_for_high) of.degree = confidence::high;
    }

    const trace& recorded_;
    std::span<const block_life> lives_;
    std::vector<std::uint64_t> numbers_;              // by block
    std::unordered_map<std::uint64_t, bool> touched_; // blocks that were watched by chance
    std::map<std::tuple<std::uint32_t, std::uint32_t, window_choice>, growing_pair> pairs_;
    co_access made_;
};

}

void pair_figures::add(const pair_figures& other) {
    pairs += other.pairs;
    near_pairs += other.near_pairs;
    near_pairs_by_chance += other.near_pairs_by_chance;
    accesses += other.accesses;
    near += other.near;
    by_chance += other.by_chance;
    widest_ns = std::max(widest_ns, other.widest_ns);
}

double site_touches::most_touched_share() const {
    if (watched == 0 || touched >= watched) return 1;
    // The largest mean with which as few touched blocks still come up with a chance of 5 %.
    constexpr double chance = 0.05;
    const auto at_most_so_many = [&](double mean) {
        double sum = 0;
        for (std::uint64_t index = 0; index <= touched; ++index) {
            const double count = static_cast<double>(index);
            sum += std::exp(count * std::log(mean) - mean - std::lgamma(count + 1));
        }
        return sum;
    };
    double low = static_cast<double>(touched) + 1, high = 3 * low + 10;
    for (int turn = 0; turn < 50; ++turn) {
        const double mean = (low + high) / 2;
        (at_most_so_many(mean) > chance ? low : high) = mean;
    }
    return std::min(high / static_cast<double>(watched), 1.0);
}

co_access find_co_access(const trace& recorded, std::span<const block_life> lives) {
    return co_access_finder(recorded, lives).find();
}

}
