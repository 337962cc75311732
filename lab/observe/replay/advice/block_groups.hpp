// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks that were allocated in the same place, and what they have in common.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "observe/replay/advice/block_lives.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Sizes of one class differ by at most a fifth (or 16 bytes): four classes per doubling.
[[nodiscard]] std::uint32_t size_class_of(std::uint64_t bytes);

/// Typical, rare and worst.
struct lifetime_figures {
    std::uint64_t p50 = 0, p99 = 0, longest = 0;
};

/// A time in which at least one block of a group was in use.
struct group_burst {
    std::uint64_t begin = 0, end = 0; ///< events; `never`: blocks were in use at the end
    std::uint64_t first = 0;          ///< index in block_group::blocks
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;      ///< of all its blocks
    std::uint64_t peak_bytes = 0; ///< in use at the same time
    std::uint64_t early = 0;      ///< blocks that were freed before its last block was allocated
};

inline constexpr std::uint32_t every_size = 0xFFFFFFFF;

struct block_group {
    std::uint32_t stack = 0;               ///< of one of its blocks, in trace::stacks; 0: the trace has no stacks
    std::size_t depth = 0;                 ///< innermost frames that all its blocks have in common
    std::size_t stacks = 0;                ///< different call stacks
    std::uint32_t size_class = every_size; ///< every_size: all sizes
    std::vector<std::uint64_t> blocks;     ///< by trace_event::block, in the order of allocation
    std::vector<group_burst> bursts;

    std::uint64_t bytes = 0;                                  ///< allocated
    std::uint64_t smallest = 0, largest = 0, most_common = 0; ///< sizes
    double common_share = 0;                                  ///< of blocks that have the most common size
    std::uint64_t peak_blocks = 0, peak_bytes = 0;
    lifetime_figures events, allocated, time_ns, frames; ///< lifetimes of the freed blocks, in four clocks
    std::array<std::uint64_t, 48> lifetimes{}; ///< freed blocks by the bits of their lifetime in events: [3] is 4 to 7
    double same_thread_share = 0;              ///< of freed blocks that the allocating thread freed
    double lifo_share = 0;                     ///< of freed blocks that were the group's youngest in their thread
    double together_share = 0;     ///< of blocks that were freed after the last of their burst was allocated
    std::uint64_t left = 0;        ///< in use at the end
    std::uint64_t zeroed = 0;      ///< blocks of calloc
    std::uint64_t resized = 0;     ///< blocks that were reallocated
    std::uint64_t resizes = 0;     ///< reallocations
    std::uint32_t threads = 0;     ///< that allocated
    std::uint32_t freed_stack = 0; ///< of the most frees, in trace::stacks; 0: the trace has no stacks of frees
    std::uint64_t freed_there = 0; ///< frees with this stack
    std::size_t freed_stacks = 0;  ///< different stacks of frees
};

/// All groups, the one with most blocks first. By the call that allocates (the innermost frame) where the trace has
/// stacks, otherwise by size class.
[[nodiscard]] std::vector<block_group> groups_of(const trace& recorded, std::span<const block_life> lives);

/// The blocks of a group by the next frames of their stacks, up to the first frame that differs; empty when all stacks
/// are the same.
[[nodiscard]] std::vector<block_group> by_caller(const trace& recorded, const block_group& group,
                                                 std::span<const block_life> lives);

/// The blocks of a group by size class, as groups of their own.
[[nodiscard]] std::vector<block_group> by_size_class(const trace& recorded, const block_group& group,
                                                     std::span<const block_life> lives);

/// Whether any allocation of the trace has a stack.
[[nodiscard]] bool has_stacks(const trace& recorded);

}
