// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does each mitigation of the hardened drop-in cost, alone and together?
///
/// Unfair would be: to believe the setting, so every process commits the mistakes that the mitigations are for, and
/// compares what happens with the setting; to compare with a form that is no malloc, so glibc and the plain drop-in
/// take part.
/// It does not show: whole programs, which do more than allocate; memory.

#include "bench/experiments/mitigations/mitigations.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"pairs", 100'000, 400'000, 1, 100'000'000, "pairs of malloc and free in each pass"},
    {"large-pairs", 50, 400, 1, 1'000'000, "pairs with a block of 300 000 bytes in each pass"},
    {"passes", 5, 9, 1, 1000, "passes within a process; their median counts"},
}};

constexpr std::array<part, 2> parts{{{"one thread", 1, 5}, {"two threads", 2, 5}}};

constexpr std::array<std::string_view, 7> unfair{
    "All rows but the first two are one library, libtenure_malloc_hardened.so. They differ in TENURE_HEAP_MITIGATIONS, "
    "and sampled guards (TENURE_HEAP_GUARD_SAMPLE) are off in all but the last.",
    "\"hardened: none\" is the cost of the form itself: states and sizes of blocks, and calls that are not inlined. "
    "The "
    "cost of a mitigation is its row less that row. The costs do not add up: quarantine and shuffle share work.",
    "Mitigations that concern other blocks cost nothing here: zero_size concerns malloc(0), records the heap's own "
    "records, and guards only the block of 300 000 bytes.",
    "Loops that do nothing else but allocate show the largest ratio that a program can have. They keep the tables of "
    "the mitigations in the cache; a program that fills the cache pays more for a call, with every malloc.",
    "The first byte of a block is written, but for the blocks of 64 bytes that are freed at once. The block of 300 000 "
    "bytes is written whole: guards unmaps or protects it at the free, which costs the next one system calls, and a "
    "fault for each page that was given back.",
    "The two threads share no block. A time is that of the slower one.",
    "Before its run each hardened process commits the mistakes that the mitigations are for, in child processes, "
    "and fails if another one than those asked for takes effect. No mistake shows double_free, which differs "
    "from none only when two threads free one block at once: the row takes the setting's word for it.",
};

constexpr std::array<contestant_source, 1> sources{mallocs_in_mitigations};

constexpr std::array<primary_figure, 1> primary{{{"*"}}};

constexpr experiment described{
    .name = "mitigations",
    .question = "What does each mitigation of the hardened drop-in cost, alone and together?",
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
    .example = "tenure bench mitigations --full --rounds 9",
};

}

const experiment mitigations_experiment = described;

}
