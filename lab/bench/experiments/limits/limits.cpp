// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what can a malloc serve when the system limits the process's addresses (`ulimit -v`, RLIMIT_AS)?
///
/// Unfair would be: to set the limit in a running process, which hides what a malloc reserves at its start, so the
/// process is started again under the limit; to count what the program and its libraries take, which is the same for
/// all, against any of them, so glibc shows what is left.
/// It does not show: limits on memory (control groups), which count touched pages only.

#include "bench/experiments/limits/limits.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 2> options{{
    {"limit-kib", 200'000, 200'000, 65'536, std::int64_t{1} << 32, "limit on the process's addresses in KiB"},
    {"small-bytes", 64, 64, 16, 4096, "bytes of a small block"},
}};

constexpr std::array<part, 3> parts{
    {{"small blocks, then a large one", 1, 5}, {"a large block, then small ones", 1, 5}, {"the smallest limit", 1, 5}}};

constexpr std::array<std::string_view, 6> unfair{
    "The limit counts all addresses of the process, touched or not: also those of the program and its libraries, and "
    "of the library that brings the malloc. What glibc serves shows what is left of the limit.",
    "Small blocks are allocated until one is refused, and each is written. Then all are freed, in the order reverse to "
    "that of the allocations, and the largest single block that is served is found by bisection, to 256 KiB.",
    "A figure after the first says whether memory of one size can serve another. Each size comes first in one "
    "part, in a process of its own.",
    "A malloc with a smaller header serves more small blocks: of 64 bytes, glibc's take 80 with their header.",
    "A malloc that reserves much in advance is at home on machines that do not limit addresses. If a process with it "
    "does not run under the limit, or is ended there, its figures are 0 and its note says so.",
    "The smallest limit is that under which /bin/cat prints the map of its own process, with the malloc in the map, "
    "and ends well; found by bisection, to 64 KiB. The program allocates a buffer or two.",
};

constexpr std::array<contestant_source, 1> sources{mallocs_in_limits};

constexpr std::array<primary_figure, 1> primary{{{"*"}}};

constexpr experiment described{
    .name = "limits",
    .question = "What can a malloc serve when the system limits the process's addresses (ulimit -v)?",
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
    .example = "tenure bench limits --limit-kib 1000000",
};

}

const experiment limits_experiment = described;

}
