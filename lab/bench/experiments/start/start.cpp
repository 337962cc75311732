// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does a preloaded malloc add to the start and the end of a program that hardly allocates?
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

constexpr std::array<option_spec, 2> options{{
    {"starts", 100, 500, 1, 100'000, "programs started one after the other in each pass"},
    {"passes", 3, 9, 1, 1000, "passes within a process; their median counts"},
}};

constexpr std::array<part, 1> parts{{{"a program that does nothing", 2}}};

constexpr std::array<std::string_view, 4> unfair{
    "The program is /bin/true: it links only the C library and ends at once. The time is from the call that starts "
    "it until its end is known. A malloc that links the C++ library pays here for loading it; a C++ program would "
    "pay for it anyway.",
    "The starting process does not copy itself (posix_spawn), and has the malloc preloaded as well; it allocates "
    "nothing while it waits.",
    "Memory is the maximum resident memory of /bin/cat while it copied two short files, including the touched pages "
    "of libraries, which processes share.",
    "The C library's own malloc is the baseline, with nothing preloaded.",
};

constexpr std::array<contestant_source, 1> sources{mallocs_in_start};

constexpr std::array<primary_figure, 2> primary{{{"start and end"}, {"peak resident"}}};

constexpr experiment described{
    .name = "start",
    .question = "What does a preloaded malloc add to a program's start and end?",
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
    .example = "tenure bench start --starts 1000",
};

}

const experiment start_experiment = described;

}
