// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whether blocks that are alive together are what was asked for: each as large as it should be, aligned, and apart
/// from all others. Timed loops store a few bytes only, so that an allocator that hands out overlapping blocks would
/// pass them, and be the fastest.
///
/// All of it is untimed and comes when every figure of a worker has been taken: it writes to each block whole.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenure::lab {

/// Writes to every byte of every block; no two blocks, and no two places in one, get the same words. `first` is the
/// number of the first block, where several lists are alive together.
void fill_blocks(std::span<void* const> blocks, std::size_t bytes, std::uint64_t first = 0);

/// Whether every byte is still as fill_blocks() wrote it.
[[nodiscard]] bool blocks_hold(std::span<void* const> blocks, std::size_t bytes, std::uint64_t first = 0);

/// What is wrong with where the blocks lie, as a sentence; empty: nothing. Sorts the list by address.
[[nodiscard]] std::string_view wrong_places(std::span<void*> blocks, std::size_t bytes, std::size_t alignment);

/// All of the above: fills, compares, looks at the places. Sorts the list by address. Allocates nothing.
/// Requires  every block has room for `bytes`.
[[nodiscard]] std::string_view check_blocks(std::span<void*> blocks, std::size_t bytes, std::size_t alignment);

/// A block among others of other sizes.
struct sized_block {
    void* place;
    std::size_t bytes;
};

/// The same for blocks of several sizes.
[[nodiscard]] std::string_view check_blocks(std::span<sized_block> blocks, std::size_t alignment);

inline constexpr std::string_view wrong_contents = "a block did not hold what was written to all of it";

/// What malloc and operator new promise: 16, and for blocks that are smaller what an object of that size can ask for.
[[nodiscard]] constexpr std::size_t malloc_alignment(std::size_t bytes) {
    std::size_t alignment = 1;
    while (alignment < 16 && alignment * 2 <= bytes) alignment *= 2;
    return alignment;
}

}
