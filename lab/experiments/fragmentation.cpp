// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: how much memory does a server hold for what it has alive, over a long run and when most of it is gone?
///
/// Unfair would be: to keep the sizes as they are, because every allocator reuses a block of the same size; to free
/// everything in the end, which gives back any page: two blocks in a hundred stay.
/// It does not show: threads that come and go, and memory that somebody gives back only after many seconds.

#include "experiments/fragmentation.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"live-mib", 32, 512, 1, 1 << 20, "MiB that are alive at any time, as they were asked for"},
    {"epochs", 8, 16, 1, 10'000, "epochs of the run, each with larger sizes than the one before"},
    {"turnovers", 2, 2, 1, 10'000, "times that the live set is replaced in each epoch"},
}};

constexpr std::array<part, 1> parts{{{"a server's run"}}};

constexpr std::array<std::string_view, 7> unfair{
    "Of 100 blocks 90 are small, 9 are buffers, one is large: 16 to 128 bytes, up to 2 KiB, up to 64 KiB in the first "
    "epoch, and eight times as much in the last. Who rounds sizes up more coarsely holds more for the same blocks; "
    "that is part of the answer.",
    "The live set is counted in the bytes that were asked for, and stays the same; everything is written whole, so "
    "whatever is resident beyond it is rounding, bookkeeping, caches and holes.",
    "Random blocks are freed. Two in a hundred stay until the end, up to a quarter of the live set.",
    "Times are of batches of 64 allocations, and of up to 64 frees of blocks that were read just before. A block's "
    "first four bytes are written within the time, so the first touch of the page that it begins in counts as "
    "\"alloc\". The rest of the block is written afterwards, and its other pages are touched then: not timed.",
    "Resident is the process's private pages above what it held before the first block, read at the end of an epoch. "
    "Without a wait: an allocator that gives back by the clock has not yet done so.",
    "Most of it freed: only the blocks that stay are alive, strewn over everything that was. \"Trimmed\" is when the "
    "allocator was then asked to give back what it can, where it has such a call.",
    "At the end of the run all blocks are written whole once more, compared, and looked at for alignment and "
    "overlaps.",
};

constexpr std::array<contestant_source, 2> sources{tenure_in_fragmentation, mallocs_in_fragmentation};

// Memory is primary wherever it is measured, in every variant: times alone would hide what keeping memory buys.
constexpr std::array<primary_figure, 8> primary{{{"alloc"},
                                                 {"free"},
                                                 {"resident after*"},
                                                 {"resident"},
                                                 {"resident, trimmed"},
                                                 {"peak"},
                                                 {"after free"},
                                                 {"after trim"}}};

constexpr experiment described{
    .name = "fragmentation",
    .question = "How much memory does a long-running server hold for what it has alive, while its sizes drift, and how "
                "much when most of it has been freed?",
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
