// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What each call stack of a trace allocates, and when its blocks die. A realloc ends a block and begins another one,
/// because it is a call with a stack of its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "observe/trace/trace.hpp"

namespace tenure::lab {

struct site_figures {
    std::uint64_t calls = 0; ///< that allocate or resize
    std::uint64_t bytes = 0;
    double held = 0; ///< bytes, by the share of the trace's events in which they are in use; marks are no events

    site_figures& operator+=(const site_figures& other) {
        calls += other.calls;
        bytes += other.bytes;
        held += other.held;
        return *this;
    }
};

/// By stack of the trace. Requires  make_plan() accepts the trace.
/// Cost      memory: `walk_block_bytes` for each block of the trace, until it returns.
[[nodiscard]] std::vector<site_figures> figures_of_stacks(const trace& recorded);
inline constexpr std::uint64_t walk_block_bytes = 40;

/// The share of the calls whose stacks have another class than ordinary_class, from 0 to 1. Both are by stack.
[[nodiscard]] double separated_share(std::span<const site_figures> figures, std::span<const std::uint8_t> classes);

/// When the blocks of a group of stacks die, and how long they live, in bytes.
struct death_figures {
    static constexpr std::size_t parts =
        64; ///< of the trace's events, without marks; one more counts what is in use at the end
    std::array<double, parts + 1> when{};
    std::array<double, 4> lifetimes{}; ///< below 1 % of the trace's allocated bytes, 10 %, 50 %, and longer
};

inline constexpr std::uint32_t no_group = 0xFFFFFFFF;
/// `group_of_stack`: below `groups`, or no_group.
[[nodiscard]] std::vector<death_figures>
deaths_of_groups(const trace& recorded, std::span<const std::uint32_t> group_of_stack, std::size_t groups);

}
