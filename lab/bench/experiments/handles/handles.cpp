// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does it cost to check that memory is still alive, and to keep it alive while it is used?
///
/// Unfair would be: to compare a check with a count, or one thread's count with that of contending threads.
/// It does not show: what is done with the memory.

#include "bench/experiments/handles/handles.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 1> options{{
    {"operations", 2'000'000, 20'000'000, 1000, 1'000'000'000, "pairs that are timed together"},
}};

constexpr std::array<part, 2> parts{{{"one thread"}, {"two threads on one", 2}}};

constexpr std::array<std::string_view, 5> unfair{
    "A pair is one acquire and one release. The bare row is two locked additions to a number, whose results nobody "
    "reads: the minimum cost of a count shared by threads.",
    "The handle, the word changed by compare-and-swap, the dictionary and a weak_ptr know when the memory is gone. "
    "A shared_ptr keeps the memory alive instead. \"Is it there\" asks a weak_ptr by expired(); like every such "
    "answer, it is valid until the next instruction.",
    "\"Compare and swap\" is one word for one object, without the table that finds it by a number, so it does less "
    "than a handle. It is a reference and may be faster than ours.",
    "\"Made and ended\" excludes the memory itself; a shared_ptr's count is a separate allocation here.",
    "\"Dictionary under a lock\" is the scheme of jemalloc.NET's ledger, rebuilt with std::unordered_map and a "
    "std::shared_mutex.",
};

constexpr std::array<contestant_source, 2> sources{tenure_in_handles, references_in_handles};

constexpr std::array<primary_figure, 1> primary{{{"*"}}};

constexpr experiment described{
    .name = "handles",
    .question = "What does it cost to check that memory is still alive, and to keep it alive while it is used?",
    .unfair = unfair,
    .baseline = "bare locked additions",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench handles --operations 20000000",
};

}

const experiment handles_experiment = described;

}
