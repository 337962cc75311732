// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which call sites allocate blocks that the program touches together, and which blocks it never touches: what the
/// windows of `tenure record --access` say.
///
/// In a window with two couples, the blocks of a couple have a relation: they were allocated one soon after the other,
/// or are the n-th ones of two call stacks. If the program visits them together, an access of one is followed by one of
/// the other within microseconds. How often that happens by chance is known twice: from how often each of the two is
/// touched in the window, and from the blocks of different couples, which are of the same call stacks and were watched
/// at the same time. A pair of blocks counts once, in how many windows it was watched, and is either of the half that
/// the rule is learned from or of the half that it is checked on. The more pairs of call sites there are, the surer
/// each must be.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "observe/replay/advice/block_groups.hpp"
#include "observe/replay/advice/block_lives.hpp"
#include "observe/replay/advice/lifetime_advice.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Two accesses on one thread are together if less than this is between them, and an allowance: the time that it takes
/// to report the accesses from the first to the second, each twice as long as measured, because it varies.
inline constexpr std::uint64_t together_ns = 10'000;

/// Accesses of pairs of blocks.
struct pair_figures {
    std::uint64_t pairs = 0;         ///< of blocks, different ones, of which both were touched in a window
    std::uint64_t near_pairs = 0;    ///< of these, with at least half of their accesses together
    std::uint64_t accesses = 0;      ///< of both blocks of a pair
    std::uint64_t near = 0;          ///< of these, together with one of the other block
    double by_chance = 0;            ///< so many accesses would be, by how often each block is touched
    double near_pairs_by_chance = 0; ///< so many pairs would be, at most
    std::uint64_t widest_ns = 0;     ///< time that was allowed between two that are together, the longest

    [[nodiscard]] double near_share() const { return accesses == 0 ? 0 : near_per(accesses); }
    [[nodiscard]] double chance_share() const { return accesses == 0 ? 0 : by_chance / static_cast<double>(accesses); }
    void add(const pair_figures& other);

private:
    [[nodiscard]] double near_per(std::uint64_t count) const {
        return static_cast<double>(near) / static_cast<double>(count);
    }
};

/// Two blocks, by trace_event::block, and how they are related.
struct block_relation {
    window_choice choice = window_choice::random;
    std::uint64_t distance = 0;          ///< successive: from the first to the second, in allocations of the thread
    std::uint32_t first = 0, second = 0; ///< call stacks, in trace::stacks

    friend auto operator<=>(const block_relation&, const block_relation&) = default;
};

/// Two call sites whose blocks were watched as couples. They may be the same.
struct site_pair {
    std::size_t first = 0, second = 0; ///< indices in co_access::sites
    window_choice choice = window_choice::random;
    pair_figures learned, checked; ///< each pair of blocks is in one of them
    pair_figures crossed;          ///< blocks of different couples
    double chance = 1;             ///< that so many checked pairs are near, if the call sites have nothing to do with
                                   ///< each other
    bool is_together = false;      ///< also beyond chance, with the number of pairs of call sites
    confidence degree = confidence::low;
    std::vector<block_relation> relations; ///< of couples that were touched together, without repetition
};

/// What a call site's blocks had in windows of blocks that were chosen by chance, while the program ran.
struct site_touches {
    std::uint64_t watched = 0; ///< different blocks that were watched
    std::uint64_t touched = 0; ///< of these, with an access
    std::uint64_t watched_ns = 0;

    /// At most this share of the blocks is touched in such a window, with 95 % confidence: 3 / watched, if none was.
    [[nodiscard]] double most_touched_share() const;
};

struct co_access {
    std::vector<std::shared_ptr<const block_group>> sites;
    std::vector<site_touches> touches; ///< by site
    std::vector<site_pair> pairs;      ///< those that are together come first, and of these the ones with most accesses
    std::vector<std::uint32_t> site_of_block; ///< no_call_site: none
};
inline constexpr std::uint32_t no_call_site = 0xFFFFFFFF;

/// Cost      O(events), and for each window the accesses in it.
[[nodiscard]] co_access find_co_access(const trace& recorded, std::span<const block_life> lives);

}
