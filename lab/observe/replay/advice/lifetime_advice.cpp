// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The rules. The numbers in them are choices: of what is proven by replay, a generous rule costs only time, so they
/// exclude what cannot work rather than what may not pay. Rules whose violation would be a bug of the program (Temp,
/// TempJob, pool) accept none.

#include "observe/replay/advice/lifetime_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "observe/replay/advice/scope_finder.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t temp_job_frames = 4;     ///< the option's default
constexpr std::uint64_t least_bursts = 16;       ///< scopes or arenas in a trace
constexpr std::uint64_t least_arena_blocks = 16; ///< in one arena, on average
constexpr double least_together = 0.95;          ///< share of an arena's blocks that live to its end
constexpr std::uint64_t least_turnover = 4;      ///< blocks of a pool for each place
constexpr double max_pool_waste = 0.125;         ///< share of the pool's bytes
constexpr double least_resizes = 2;              ///< per block that is resized
constexpr double least_resized_share = 0.5;
constexpr double reserve_share = 0.9; ///< of the blocks that the reserved size suffices for

confidence degree_of(std::uint64_t checked, std::uint64_t violations) {
    if (violations != 0 || checked < 100) return confidence::low;
    return checked < 1000 ? confidence::medium : confidence::high;
}

class adviser {
public:
    adviser(const trace& recorded, const block_group& group, std::span<const block_life> lives,
            const code_functions& functions)
        : recorded_(recorded), group_(group), lives_(lives), functions_(functions), half_(group.blocks.size() / 2) {
        for (const trace_event& each : recorded.events) {
            if (each.call != trace_call::frame) continue;
            if (frames_++ == 0) frame_thread_ = each.thread;
            several_end_frames_ |= each.thread != frame_thread_;
        }
    }

    group_advice make() {
        if (group_.blocks.size() < least_blocks) {
            found_.refusal = fmt::format("{} blocks are too few to learn from: record the program for longer, or with "
                                         "more work",
                                         group_.blocks.size());
            return std::move(found_);
        }
        if (group_.resized != 0) {
            try_reserve();
        } else {
            try_temp();
            try_temp_job();
            try_arena();
            try_pool();
        }
        if (found_.fits.empty() && found_.refusal.empty()) found_.refusal = "no rule fits its lifetimes";
        return std::move(found_);
    }

private:
    [[nodiscard]] const block_life& life(std::size_t index) const { return lives_[group_.blocks[index]]; }

    /// Counts the blocks of a half that break a rule.
    template<class Holds>
    [[nodiscard]] std::uint64_t breaks(bool second_half, Holds holds) const {
        std::uint64_t broken = 0;
        const std::size_t begin = second_half ? half_ : 0, end = second_half ? group_.blocks.size() : half_;
        for (std::size_t i = begin; i < end; ++i) broken += std::uint64_t{!holds(life(i))};
        return broken;
    }

    void refuse(std::string why) {
        if (found_.refusal.empty()) found_.refusal = std::move(why);
    }

    void accept(lifetime_advice advice) {
        if (advice.learned_on + advice.checked_on == 0) {
            advice.learned_on = half_;
            advice.checked_on = group_.blocks.size() - half_;
        }
        advice.degree = degree_of(advice.checked_on, advice.violations);
        // The trace may show a function that returns or keeps its blocks: scope_finder.hpp, free_places.hpp.
        if (advice.where == scope_place::function && advice.proof != scope_proof::separate_calls)
            advice.degree = std::min(advice.degree, confidence::medium);
        for (const std::uint64_t block : group_.blocks)
            advice.alignment_log2 = std::max(advice.alignment_log2, lives_[block].alignment_log2);
        found_.fits.push_back(std::move(advice));
    }

    /// Accepts a rule that the first half follows, if the second half follows it too.
    template<class Holds>
    bool holds_in_both(std::string_view name, Holds holds) {
        if (breaks(false, holds) != 0) return false;
        const std::uint64_t broken = breaks(true, holds);
        if (broken != 0)
            refuse(fmt::format("it seems to fit {}, but {} of the {} blocks of the second half break the rule that "
                               "the first half follows",
                               name, broken, group_.blocks.size() - half_));
        return broken == 0;
    }

    void try_temp() {
        if (has_frames()) return try_temp_frames();
        const auto stays = [&](const block_life& one) { return ends_in_time(one) && !one.crossed; };
        if (group_.bursts.size() < least_bursts || breaks(false, stays) != 0) return;
        if (!holds_in_both("Temp", stays)) return;
        if (group_.threads != 1) return refuse("several threads allocate it, and their scopes cannot be told apart");
        temp_scopes scopes = temp_scopes_of(recorded_, group_, lives_, functions_);
        if (!scopes.refusal.empty()) return refuse(std::move(scopes.refusal));
        lifetime_advice made;
        made.kind = advice_kind::temp;
        made.where = scopes.where;
        made.scope_frame = scopes.frame;
        made.proof = scopes.proof;
        made.scopes = std::move(scopes.all);
        made.learned_on = scopes.learned_on;
        made.checked_on = scopes.checked_on;
        made.why = fmt::format("all blocks of a scope are freed within {} events, on the thread that allocated them",
                               scopes.longest);
        accept(std::move(made));
    }

    /// The end of a frame empties the Temp of the thread that ends it, and of no other.
    void try_temp_frames() {
        const auto in_frame = [&](const block_life& one) { return frames_of(one) == 0 && !one.crossed; };
        if (breaks(false, in_frame) != 0) return;
        if (several_end_frames_)
            return refuse("its blocks are freed in the frame that allocated them, but several threads end frames: the "
                          "trace does not tell which end belongs to which thread's work");
        const auto is_elsewhere = [&](std::uint64_t block) { return lives_[block].born.thread != frame_thread_; };
        if (std::any_of(group_.blocks.begin(), group_.blocks.end(), is_elsewhere))
            return refuse("its blocks are freed in the frame that allocated them, but on a thread that does not end "
                          "frames: Temp would fit if that thread called tn_reset_temp() after each piece of work");
        if (!holds_in_both("Temp", in_frame)) return;
        lifetime_advice made;
        made.kind = advice_kind::temp;
        made.where = scope_place::frame;
        made.why = "every block is freed in the frame, and on the thread, that allocated it";
        accept(std::move(made));
    }

    [[nodiscard]] bool has_frames() const { return frames_ != 0; }

    /// How many frames a block lives; one that was in use at the end lives until the last frame at least.
    [[nodiscard]] std::uint64_t frames_of(const block_life& one) const {
        return (one.is_freed() ? one.died.frame : frames_) - one.born.frame;
    }
    /// A program may end in the middle of its work: what it allocated last can be in use then. temp_scopes_of() looks
    /// whether it was still in its scope.
    [[nodiscard]] bool ends_in_time(const block_life& one) const {
        return one.is_freed() || (group_.bursts.back().end == never && one.born.event >= group_.bursts.back().begin &&
                                  recorded_.events.size() - group_.bursts.back().begin <= max_temp_events);
    }

    void try_temp_job() {
        if (!has_frames()) return;
        const auto holds = [&](const block_life& one) { return frames_of(one) <= temp_job_frames; };
        if (!holds_in_both("TempJob", holds)) return;
        lifetime_advice made;
        made.kind = advice_kind::temp_job;
        made.where = scope_place::frame;
        made.why = fmt::format("every block is freed within {} frames; TempJob allows {}", group_.frames.longest,
                               temp_job_frames);
        accept(std::move(made));
    }

    void try_arena() {
        const std::vector<group_burst>& bursts = group_.bursts;
        if (group_.threads != 1 || group_.blocks.size() / bursts.size() < least_arena_blocks) return;
        const auto stays = [](const block_life& one) { return one.is_freed() && !one.crossed; };
        const std::size_t half = bursts.size() / 2;
        std::uint64_t learned = 0, learned_early = 0, checked = 0, early = 0;
        for (std::size_t i = 0; i < bursts.size(); ++i) {
            const bool is_first = i < half || bursts.size() == 1; // of one nothing is left to check it on
            (is_first ? learned : checked) += bursts[i].blocks;
            (is_first ? learned_early : early) += bursts[i].early;
        }
        const auto is_apart = [](std::uint64_t part, std::uint64_t whole) {
            return static_cast<double>(part) > (1 - least_together) * static_cast<double>(whole);
        };
        if (is_apart(learned_early, learned)) return;
        if (breaks(false, stays) != 0 || !holds_in_both("an arena", stays)) return;
        if (is_apart(early, checked))
            return refuse(fmt::format("it seems to fit an arena, but {} of the {} blocks of the second half are freed "
                                      "before the last of their arena is allocated",
                                      early, checked));
        lifetime_advice made;
        made.kind = advice_kind::arena;
        made.learned_on = learned;
        made.checked_on = checked;
        made.violations = early;
        place_arena(made);
        made.why = fmt::format("its blocks are freed together, {} at a time, {}", group_.blocks.size() / bursts.size(),
                               bursts.size() == 1 ? std::string("once in the trace")
                                                  : fmt::format("{} times in the trace", bursts.size()));
        accept(std::move(made));
    }

    /// Where the arena can be kept: in the function that holds all bursts of the first half, if it holds the others
    /// too.
    void place_arena(lifetime_advice& made) {
        scope_finder finder(recorded_, group_, lives_, functions_);
        const std::vector<group_burst>& bursts = group_.bursts;
        std::size_t frame = 0, telling = 0;
        bool by_frees = true;
        for (std::size_t i = 0; i < bursts.size(); ++i) {
            const found_scope scope = finder.scope_of(bursts[i], frame);
            if (scope.frame == scope_finder::no_frame) return;
            if (i >= bursts.size() / 2 && scope.frame > frame) return;
            frame = std::max(frame, scope.frame);
            telling += std::size_t{scope.is_told};
            by_frees = by_frees && scope.by_frees;
        }
        if (telling < 2) return;
        made.where = scope_place::function;
        made.scope_frame = frame;
        if (!by_frees) return;
        made.proof = scope_proof::separate_calls;
        for (std::size_t i = 1; i < bursts.size(); ++i)
            if (!finder.is_left(bursts[i], frame, bursts[i - 1].end)) made.proof = scope_proof::frees;
    }

    void try_pool() {
        if (half_ < least_turnover * std::max<std::uint64_t>(first_peak(), 1)) return;
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < half_; ++i) largest = std::max(largest, life(i).largest_bytes);
        // Of the pool's bytes, the part that no block asks for.
        const auto is_waste = [&](std::size_t begin, std::size_t end) {
            std::uint64_t bytes = 0;
            for (std::size_t i = begin; i < end; ++i) bytes += life(i).largest_bytes;
            return static_cast<double>(bytes) <
                   (1 - max_pool_waste) * static_cast<double>(largest) * static_cast<double>(end - begin);
        };
        if (is_waste(0, half_)) return;
        const auto fits = [&](const block_life& one) { return one.largest_bytes <= largest; };
        if (!holds_in_both("a pool", fits)) return;
        if (is_waste(half_, group_.blocks.size()))
            return refuse(fmt::format(
                "it seems to fit a pool of {} bytes, but the blocks of the second half are smaller", largest));
        const bool is_shared =
            group_.threads != 1 || std::any_of(group_.blocks.begin(), group_.blocks.end(),
                                               [&](std::uint64_t block) { return lives_[block].crossed; });
        lifetime_advice made;
        made.kind = is_shared ? advice_kind::shared_pool : advice_kind::pool;
        made.room_bytes = std::max<std::uint64_t>(largest, 1);
        made.why = fmt::format(
            "{} {} bytes, and each place in the pool is used {} times",
            group_.common_share == 1 ? "every block has"
                                     : fmt::format("{:.0f} % of the blocks have", group_.common_share * 100),
            group_.most_common, group_.blocks.size() / std::max<std::uint64_t>(group_.peak_blocks, 1));
        accept(std::move(made));
    }

    /// How many blocks of the first half were in use at the same time.
    [[nodiscard]] std::uint64_t first_peak() const {
        std::vector<std::uint64_t> ends;
        for (std::size_t i = 0; i < half_; ++i) ends.push_back(life(i).died.event);
        std::sort(ends.begin(), ends.end());
        std::uint64_t peak = 0;
        std::size_t ended = 0;
        for (std::size_t i = 0; i < half_; ++i) {
            while (ended < half_ && ends[ended] < life(i).born.event) ++ended;
            peak = std::max<std::uint64_t>(peak, i + 1 - ended);
        }
        return peak;
    }

    void try_reserve() {
        const double blocks = static_cast<double>(group_.blocks.size());
        if (static_cast<double>(group_.resized) < least_resized_share * blocks ||
            static_cast<double>(group_.resizes) < least_resizes * static_cast<double>(group_.resized))
            return refuse("some of its blocks are reallocated, and too seldom for a reservation to save much");
        std::vector<std::uint64_t> sizes;
        for (std::size_t i = 0; i < half_; ++i) sizes.push_back(life(i).largest_bytes);
        std::sort(sizes.begin(), sizes.end());
        const std::uint64_t room =
            sizes[static_cast<std::size_t>(reserve_share * static_cast<double>(sizes.size() - 1))];
        std::uint64_t total = 0;
        for (const std::uint64_t block : group_.blocks) total += lives_[block].largest_bytes;
        if (static_cast<double>(room) * blocks > 2 * static_cast<double>(total))
            return refuse(fmt::format("its blocks grow, but to sizes so different that reserving {} bytes would waste "
                                      "more than it holds",
                                      room));
        lifetime_advice made;
        made.kind = advice_kind::reserve;
        made.room_bytes = room;
        made.violations = breaks(true, [&](const block_life& one) { return one.largest_bytes <= room; });
        if (static_cast<double>(made.violations) >
            (1 - reserve_share) * 2 * static_cast<double>(group_.blocks.size() - half_))
            return refuse(fmt::format("its blocks grow, and {} of the {} blocks of the second half grow past the {} "
                                      "bytes that suffice in the first",
                                      made.violations, group_.blocks.size() - half_, room));
        made.why = fmt::format("{:.1f} reallocations per block; {} bytes suffice for {:.0f} % of the blocks",
                               static_cast<double>(group_.resizes) / blocks, room, reserve_share * 100);
        accept(std::move(made));
    }

    const trace& recorded_;
    const block_group& group_;
    std::span<const block_life> lives_;
    const code_functions& functions_;
    std::size_t half_;         // blocks from here on check what was learned before
    std::uint32_t frames_ = 0; // of the whole trace
    std::uint32_t frame_thread_ = 0;
    bool several_end_frames_ = false;
    group_advice found_;
};

}

std::string_view name_of(advice_kind kind) {
    constexpr std::array<std::string_view, 7> names{"leave alone", "Temp",  "TempJob",     "pool",
                                                    "shared pool", "arena", "reserve once"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view with_article(advice_kind kind) {
    switch (kind) {
    case advice_kind::pool: return "a pool";
    case advice_kind::shared_pool: return "a shared pool";
    case advice_kind::arena: return "an arena";
    case advice_kind::reserve: return "a reservation";
    default: return name_of(kind);
    }
}

std::string_view name_of(confidence degree) {
    constexpr std::array<std::string_view, 3> names{"low", "medium", "high"};
    return names[static_cast<std::size_t>(degree)];
}

group_advice advise(const trace& recorded, const block_group& group, std::span<const block_life> lives,
                    const code_functions& functions) {
    return adviser(recorded, group, lives, functions).make();
}

}
