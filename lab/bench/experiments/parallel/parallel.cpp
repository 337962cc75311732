// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does it cost to format a record as text, and what do several threads gain?
///
/// Unfair would be: formats that read different objects or write different text; memory that one of them touches for
/// the first time; threads that are started while the clock runs.
/// It does not show: writing the text to its destination; more than two threads, unless --threads asks for them.

#include "bench/experiments/parallel/parallel.hpp"

#include <array>
#include <string_view>

#include "bench/experiments/library_peers/library_peers.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 4> options{{
    {"pages", 64, 1024, 1, 1 << 20, "number of pages of objects"},
    {"page-objects", 1024, 1024, 1, 1 << 20, "objects in each page"},
    {"threads", 2, 2, 2, 256, "threads that write in parallel; each has a processor of its own if there are enough"},
    {"repeats", 3, 7, 1, 1000, "times that each loop is measured; the median counts"},
}};

constexpr std::array<part, 3> parts{{{"two fields", 2}, {"five fields", 2}, {"counted", 2, 1}}};

constexpr std::array<std::string_view, 7> unfair{
    "All formats write to the same memory, allocated and touched beforehand: each page has room for its longest text.",
    "The text of every row is compared with snprintf's, byte by byte; copies are not text. stb_sprintf rounds a value "
    "that lies exactly between two texts away from zero, which is known of it and allowed.",
    "Floats are between -1000 and 1000. Larger ones, and more digits after the point, take longer in every row but "
    "the copy's.",
    "\"Of the copy's speed-up\": the gain of the threads, relative to their gain in the same process for copies of "
    "the objects. Two processors may be two threads of one core; the copy shows what such a pair can gain when "
    "memory is the limit.",
    "Allocations and waits are counted in a separate process under `tenure watch`, in the part \"counted\", for "
    "threads that write two fields. Two rows plant an allocation and a lock in each record, to show that they would "
    "be counted.",
    "In the article, sprintf freed a null pointer after each call, and that free took a lock. Two rows with two fields "
    "do the same after snprintf: one frees through the C library, which takes no lock, and one takes a lock first. "
    "The fix is another formatter: tn_snprintf, stb_sprintf or text_writer.",
    "Threads of our own each take the next page and are awake when the clock starts; those of std::for_each, "
    "which runs on TBB, were awake just before.",
};

constexpr std::array<contestant_source, 3> sources{threads_in_parallel, stb_sprintf_in_parallel, for_each_in_parallel};

constexpr std::array<primary_figure, 3> primary{{{"one thread"}, {"two threads"}, {"of the copy's speed-up"}}};

constexpr experiment described{
    .name = "parallel",
    .question = "What does it cost to format a record as text, and what do two threads gain?",
    .unfair = unfair,
    .baseline = "snprintf",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench parallel --pages 1024 --page-objects 1024",
};

}

const experiment parallel_experiment = described;

}
