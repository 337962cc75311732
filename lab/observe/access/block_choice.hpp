// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Chooses the blocks of a recorded program that get watchpoints next.

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "observe/trace/access/live_blocks.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// A block, as the list has it.
struct listed_block {
    std::uint64_t address = 0, name = 0, ticks = 0, bytes = 0;
    std::uint32_t stack = 0, ordinal = 0;
};

struct chosen_block {
    listed_block block;
    std::uint32_t offset = 0; ///< of the watched bytes
};

struct chosen_window {
    window_choice choice = window_choice::random;
    std::uint64_t distance = 0; ///< successive: allocations of the thread from the first to the second block
    std::vector<chosen_block> blocks;
};

/// Two of five windows have blocks by chance, from which shares are estimated. The others have two couples of blocks
/// that may be used together, with the same relation. The blocks of different couples show how often two blocks of
/// these call stacks are touched together by chance. Half of these windows look at relations of couples that were
/// touched one right behind the other before. Call stacks whose blocks are never touched
/// get fewer of the others.
class block_choice {
public:
    static constexpr std::size_t max_blocks = 4;
    static constexpr std::size_t max_listed = live_blocks::capacity / 2;

    explicit block_choice(std::uint64_t seed) : random_(seed) {}

    /// Reads the list. Widens its mask if it is too full. Blocks younger than `least_ticks` are left out: what
    /// constructs them touches them.
    void refresh(live_blocks& list, std::uint64_t now_ticks, std::uint64_t least_ticks);
    [[nodiscard]] std::size_t size() const { return blocks_.size(); }

    /// The next window; without blocks: there are too few.
    [[nodiscard]] chosen_window next();
    /// `counts`: accesses of the blocks of a window. `near`: of each couple, whether they were touched one right behind
    /// the other.
    void learn(const chosen_window& of, std::span<const std::uint32_t> counts, std::span<const bool> near);

private:
    struct relation {
        window_choice choice;
        std::uint64_t distance;
        std::uint32_t first, second; ///< stacks

        friend bool operator==(const relation&, const relation&) = default;
    };

    [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
    [[nodiscard]] std::size_t any_of_stack(std::uint32_t stack);
    [[nodiscard]] std::size_t partner_of(std::size_t index, const relation& by) const;
    [[nodiscard]] bool choose_relation(relation& to);
    [[nodiscard]] chosen_window random_window();
    [[nodiscard]] chosen_window couples_of(const relation& by);

    static constexpr std::size_t none = ~std::size_t{0};

    std::mt19937_64 random_;
    std::vector<listed_block> blocks_;                                // by stack and ordinal
    std::unordered_map<std::uint64_t, std::size_t> by_name_;          // index
    std::vector<std::pair<std::uint32_t, std::uint32_t>> by_ordinal_; // ordinal, index
    struct seen {
        std::uint32_t watched = 0, touched = 0;
    };

    [[nodiscard]] bool is_passed_over(std::uint32_t stack);

    std::vector<relation> near_; ///< of couples that were touched one right behind the other
    std::unordered_map<std::uint32_t, seen> stacks_;
};

}
