// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checks blocks that are alive together: each has its size and alignment, and none overlaps another. Timed loops store
/// only a few bytes, so an allocator that returns overlapping blocks would pass them and be the fastest.
///
/// All checks are untimed and run after a worker has taken all its figures, because they write to every byte of each
/// block.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenure::lab {

/// Writes to every byte of every block. No two blocks, and no two places in one, get the same words. `first` is the
/// number of the first block, for when several lists are alive together.
void fill_blocks(std::span<void* const> blocks, std::size_t bytes, std::uint64_t first = 0);

/// Whether every byte is still as fill_blocks() wrote it.
[[nodiscard]] bool blocks_hold(std::span<void* const> blocks, std::size_t bytes, std::uint64_t first = 0);

/// What is wrong with the positions of the blocks, as a sentence; empty when nothing is. Sorts the list by address.
[[nodiscard]] std::string_view wrong_places(std::span<void*> blocks, std::size_t bytes, std::size_t alignment);

/// All of the above: fills, compares, checks the positions. Sorts the list by address. Allocates nothing.
/// Requires  every block has room for `bytes`.
[[nodiscard]] std::string_view check_blocks(std::span<void*> blocks, std::size_t bytes, std::size_t alignment);

/// A block in a list of blocks of several sizes.
struct sized_block {
    void* place;
    std::size_t bytes;
};

/// The same for blocks of several sizes. A block smaller than `alignment` needs only malloc_alignment() of its size.
[[nodiscard]] std::string_view check_blocks(std::span<sized_block> blocks, std::size_t alignment);

inline constexpr std::string_view wrong_contents = "a block did not hold the data written to all of it";

/// The alignment that malloc and operator new promise: 16, or for smaller blocks the largest that an object of that
/// size can need.
[[nodiscard]] constexpr std::size_t malloc_alignment(std::size_t bytes) {
    std::size_t alignment = 1;
    while (alignment < 16 && alignment * 2 <= bytes) alignment *= 2;
    return alignment;
}

}
