// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does a preloaded malloc add to the start and the end of programs that hardly allocate, and to a shell
/// script of them?
///
/// Unfair would be: to start programs from a large process, which takes the kernel longer, so a small one starts them
/// without copying itself; to generalize from one program: the libraries that a malloc links are loaded as well, and a
/// program that links them too has already paid for that.
/// It does not show: what programs gain or lose once they run (heap).

#include "bench/experiments/start/start.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"starts", 100, 500, 1, 100'000, "programs started one after the other in each pass"},
    {"passes", 3, 9, 1, 1000, "passes within a process; their median counts"},
    {"programs", 300, 1800, 5, 1'000'000, "programs that the shell script runs, rounded down to a multiple of five"},
}};

constexpr std::array<part, 2> parts{{{"a program that does nothing", 2}, {"a shell script", 2, 5}}};

constexpr std::array<std::string_view, 6> unfair{
    "The program that does nothing is /bin/true: it links only the C library and ends at once. The time is from the "
    "call that starts "
    "it until its end is known. A malloc that links the C++ library pays here for loading it; a C++ program would "
    "pay for it anyway.",
    "The starting process does not copy itself (posix_spawn), and has the malloc preloaded as well; it allocates "
    "nothing while it waits.",
    "Memory is the maximum resident memory of /bin/cat while it copied two short files, including the touched pages "
    "of libraries, which processes share.",
    "The shell script runs true, expr, cat, sed and sort in turn, on a file of 40 short lines in memory. /bin/sh has "
    "the "
    "malloc preloaded, and so has each program. The times include the shell's own work: its forks copy the pages that "
    "its malloc has touched.",
    "\"Processor\" is the time that the shell and its programs spend in user mode and in the kernel. \"Wall\" also has "
    "their waits. The script runs once in each of the first five rounds.",
    "The C library's own malloc is the baseline, with nothing preloaded.",
};

constexpr std::array<contestant_source, 1> sources{mallocs_in_start};

constexpr std::array<primary_figure, 4> primary{{{"start and end"}, {"peak resident"}, {"wall"}, {"processor"}}};

constexpr experiment described{
    .name = "start",
    .question =
        "What does a preloaded malloc add to a program's start and end, and to a shell script of short programs?",
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
    .example = "tenure bench start --starts 1000 --programs 1800",
};

}

const experiment start_experiment = described;

}
