// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: how much memory does a server use for its live data, over a long run and after most of it was freed?
///
/// Unfair would be: to keep the sizes constant, because every allocator reuses a block of the same size; to free
/// everything at the end, which lets every page be returned. So two blocks in a hundred stay.
/// A second part frees most of its blocks and waits, without a call, to see what is returned by itself.
/// It does not show: threads that come and go.

#include "bench/experiments/fragmentation/fragmentation.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 6> options{{
    {"live-mib", 32, 512, 1, 1 << 20, "live data at any time in MiB, counted in requested bytes"},
    {"epochs", 8, 16, 1, 10'000, "epochs of the run, each with larger sizes than the one before"},
    {"turnovers", 2, 2, 1, 10'000, "times that the live set is replaced in each epoch"},
    {"holes", 300'000, 300'000, 100, 100'000'000, "blocks that are allocated before most of them are freed"},
    {"keep", 20, 20, 1, 1'000'000, "one block in this many is kept"},
    {"idle", 10, 10, 1, 3600, "seconds that the program then waits"},
}};

constexpr std::array<part, 2> parts{{{"a server's run"}, {"holes, then idle", 2, 1}}};

constexpr std::array<std::string_view, 8> unfair{
    "Of 100 blocks 90 are small, 9 are buffers, one is large: 16 to 128 bytes, up to 2 KiB, up to 64 KiB in the "
    "first epoch, and eight times as much in the last. An allocator that rounds sizes up more coarsely uses more "
    "memory for the same blocks; that is part of the result.",
    "The live set is counted in requested bytes and stays constant. Every block is written whole, so resident "
    "memory beyond the live set is rounding, bookkeeping, caches and holes.",
    "Blocks are freed in random order. Two in a hundred stay until the end, up to a quarter of the live set.",
    "Times are of batches of 64 allocations, and of up to 64 frees of blocks that were read just before. A block's "
    "first four bytes are written within the time, so the first touch of the page that it begins in counts as "
    "\"alloc\". The rest of the block is written afterwards and its other pages are touched then, untimed.",
    "Resident is the process's private pages above what it had before the first block, read at the end of an epoch "
    "without waiting: an allocator that returns memory after a delay has not yet done so.",
    "Most of it freed: only the blocks that stay are alive, scattered over the former live set. \"Trimmed\" is "
    "after a request to return free memory, for allocators that have such a call.",
    "Holes, then idle: blocks of 512, 1024 and 2048 bytes, written whole and freed in random order, but for one in "
    "twenty. The program then calls nothing and sleeps. An allocator that returns memory only in its calls, or after "
    "more seconds than these, returns nothing here. It runs in the first round only, because it waits.",
    "At the end of the run all blocks are written whole once more, compared, and checked for alignment and overlaps.",
};

constexpr std::array<contestant_source, 2> sources{tenure_in_fragmentation, mallocs_in_fragmentation};

// Memory is primary wherever it is measured, in every variant: times alone would hide the benefit of retaining memory.
constexpr std::array<primary_figure, 9> primary{{{"alloc"},
                                                 {"free"},
                                                 {"resident after*"},
                                                 {"returned after*"},
                                                 {"resident"},
                                                 {"resident, trimmed"},
                                                 {"peak"},
                                                 {"after free"},
                                                 {"after trim"}}};

constexpr experiment described{
    .name = "fragmentation",
    .question = "How much memory does a long-running server use for its live data while its sizes drift, after most of "
                "it was freed, and while it then waits?",
    .unfair = unfair,
    .baseline = "glibc malloc",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench fragmentation --live-mib 256 --epochs 20",
};

}

const experiment fragmentation_experiment = described;

}
