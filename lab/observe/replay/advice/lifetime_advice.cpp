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

constexpr std::uint64_t temp_job_frames = 4;      ///< the option's default
constexpr std::uint64_t max_temp_bytes = 1 << 20; ///< of one scope; a thread's Temp has 4 MiB
constexpr std::uint64_t max_temp_events = 20'000; ///< of one scope
constexpr std::uint64_t least_bursts = 16;        ///< scopes or arenas in a trace
constexpr std::uint64_t least_arena_blocks = 16;  ///< in one arena, on average
constexpr double least_together = 0.95;           ///< share of an arena's blocks that live to its end
constexpr std::uint64_t least_turnover = 4;       ///< blocks of a pool for each place
constexpr double max_pool_waste = 0.125;          ///< share of the pool's bytes
constexpr double least_resizes = 2;               ///< per block that is resized
constexpr double least_resized_share = 0.5;
constexpr double reserve_share = 0.9; ///< of the blocks that the reserved size suffices for

confidence degree_of(std::uint64_t checked, std::uint64_t violations) {
    if (violations != 0 || checked < 100) return confidence::low;
    return checked < 1000 ? confidence::medium : confidence::high;
}

class adviser {
public:
    adviser(const trace& recorded, const block_group& group, std::span<const block_life> lives)
        : recorded_(recorded), group_(group), lives_(lives), half_(group.blocks.size() / 2),
          frames_(static_cast<std::uint32_t>(
              std::count_if(recorded.events.begin(), recorded.events.end(),
                            [](const trace_event& each) { return each.call == trace_call::frame; }))) {}

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
        const auto in_frame = [&](const block_life& one) { return frames_of(one) == 0 && !one.crossed; };
        const auto stays = [&](const block_life& one) { return ends_in_time(one) && !one.crossed; };
        if (group_.frames.longest == 0 && has_frames()) {
            if (!holds_in_both("Temp", in_frame)) return;
            lifetime_advice made;
            made.kind = advice_kind::temp;
            made.where = scope_place::frame;
            made.why = "every block is freed in the frame, and on the thread, that allocated it";
            return accept(std::move(made));
        }
        if (has_frames() || breaks(false, stays) != 0 || group_.bursts.size() < least_bursts) return;
        if (!holds_in_both("Temp", stays)) return;
        try_temp_scopes();
    }

    [[nodiscard]] bool has_frames() const { return frames_ != 0; }

    /// How many frames a block lives; one that was in use at the end lives until the last frame at least.
    [[nodiscard]] std::uint64_t frames_of(const block_life& one) const {
        return (one.is_freed() ? one.died.frame : frames_) - one.born.frame;
    }
    /// A program may end in the middle of its work: what it allocated last can be in use then.
    [[nodiscard]] bool ends_in_time(const block_life& one) const {
        return one.is_freed() || (group_.bursts.back().end == never && one.born.event >= group_.bursts.back().begin &&
                                  recorded_.events.size() - group_.bursts.back().begin <= max_temp_events);
    }

    /// A scope that begins before a burst and ends after it.
    void try_temp_scopes() {
        if (group_.threads != 1) return refuse("several threads allocate it, and their scopes cannot be told apart");
        std::vector<group_burst> bursts = group_.bursts;
        if (bursts.back().end == never) bursts.pop_back();
        const std::size_t half = bursts.size() / 2;
        const auto is_short = [](const group_burst& one) {
            return one.end != never && one.end - one.begin <= max_temp_events && one.bytes <= max_temp_bytes;
        };
        if (!std::all_of(bursts.begin(), bursts.begin() + static_cast<std::ptrdiff_t>(half), is_short)) return;
        scope_finder scopes(recorded_, group_, lives_);
        std::size_t frame = 0;
        for (std::size_t i = 0; i < half && frame != scope_finder::no_frame; ++i)
            frame = std::max(frame, scopes.frame_of(bursts[i]));
        const bool by_phase = group_.stack == 0 && in_one_phase(0, half);
        if (frame == scope_finder::no_frame && !by_phase)
            return refuse("its blocks are short-lived, but the trace does not tell where a scope could stand: record "
                          "it with call stacks (--stacks 32), frames (tn_next_frame) or marks");
        std::uint64_t broken = 0, checked = 0;
        for (std::size_t i = half; i < bursts.size(); ++i) {
            checked += bursts[i].blocks;
            const bool holds =
                is_short(bursts[i]) && (by_phase ? in_one_phase(i, i + 1) : scopes.frame_of(bursts[i]) <= frame);
            if (!holds) broken += bursts[i].blocks;
        }
        if (broken != 0)
            return refuse(fmt::format("it seems to fit Temp, but {} of the {} blocks of the second half outlive the "
                                      "scope that the first half would have",
                                      broken, checked));
        lifetime_advice made;
        made.kind = advice_kind::temp;
        made.where = by_phase ? scope_place::phase : scope_place::function;
        made.scope_frame = by_phase ? 0 : frame;
        made.checked_on = checked;
        made.learned_on = group_.blocks.size() - checked;
        made.why = fmt::format("all blocks of a scope are freed within {} events, on the thread that allocated them",
                               longest_burst());
        accept(std::move(made));
    }

    [[nodiscard]] bool in_one_phase(std::size_t begin, std::size_t end) const {
        if (recorded_.marks.empty()) return false;
        for (std::size_t i = begin; i < end; ++i) {
            const group_burst& burst = group_.bursts[i];
            for (std::uint64_t event = burst.begin; event <= burst.end; ++event)
                if (recorded_.events[event].call == trace_call::mark) return false;
        }
        return true;
    }

    [[nodiscard]] std::uint64_t longest_burst() const {
        std::uint64_t longest = 0;
        for (const group_burst& each : group_.bursts)
            if (each.end != never) longest = std::max(longest, each.end - each.begin);
        return longest;
    }

    void try_temp_job() {
        if (!has_frames() || group_.frames.longest > temp_job_frames) return;
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
        std::uint64_t learned = 0, learned_together = 0, checked = 0, apart = 0;
        for (std::size_t i = 0; i < bursts.size(); ++i) {
            const group_burst& each = bursts[i];
            (i < half ? learned : checked) += each.blocks;
            if (i < half && each.ends_together) learned_together += each.blocks;
            if (i >= half && !each.ends_together) apart += each.blocks;
        }
        if (static_cast<double>(learned_together) < least_together * static_cast<double>(learned)) return;
        if (half == 0 && apart != 0) return;
        if (breaks(false, stays) != 0 || !holds_in_both("an arena", stays)) return;
        if (static_cast<double>(apart) > (1 - least_together) * static_cast<double>(checked))
            return refuse(fmt::format("it seems to fit an arena, but {} of the {} blocks of the second half are not "
                                      "freed together",
                                      apart, checked));
        lifetime_advice made;
        made.kind = advice_kind::arena;
        if (bursts.size() == 1) std::swap(learned, checked); // nothing is left to check it on
        made.learned_on = learned;
        made.checked_on = checked;
        made.violations = apart;
        scope_finder scopes(recorded_, group_, lives_);
        std::size_t frame = 0;
        for (std::size_t i = 0; i < bursts.size() && frame != scope_finder::no_frame; ++i)
            frame = std::max(frame, scopes.frame_of(bursts[i]));
        made.where = frame == scope_finder::no_frame ? scope_place::unknown : scope_place::function;
        made.scope_frame = made.where == scope_place::unknown ? 0 : frame;
        made.why = fmt::format("its blocks are freed together, {} at a time, {}", group_.blocks.size() / bursts.size(),
                               bursts.size() == 1 ? std::string("once in the trace")
                                                  : fmt::format("{} times in the trace", bursts.size()));
        accept(std::move(made));
    }

    void try_pool() {
        if (group_.blocks.size() < least_turnover * std::max<std::uint64_t>(group_.peak_blocks, 1)) return;
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < half_; ++i) largest = std::max(largest, life(i).largest_bytes);
        const double mean = static_cast<double>(group_.bytes) / static_cast<double>(group_.blocks.size());
        if (mean < (1 - max_pool_waste) * static_cast<double>(largest)) return;
        const auto fits = [&](const block_life& one) { return one.largest_bytes <= largest; };
        if (!holds_in_both("a pool", fits)) return;
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
    std::size_t half_;     // blocks from here on check what was learned before
    std::uint32_t frames_; // of the whole trace
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

group_advice advise(const trace& recorded, const block_group& group, std::span<const block_life> lives) {
    return adviser(recorded, group, lives).make();
}

}
