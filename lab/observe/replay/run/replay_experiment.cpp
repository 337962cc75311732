// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: how long do the allocations of a recorded program take on each malloc, and how much memory do they need?
///
/// Unfair would be: to read the trace or look blocks up in the timed loop; to replay on a heap that an earlier replay
/// has used; to write nothing to the blocks, so that memory of large ones costs nothing.
/// It does not show: what the program does between its calls, and so its caches, waiting, and input and output.

#include "observe/replay/run/replay_experiment.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/harness/worker/worker.hpp"
#include "observe/replay/run/replay_worker.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 3> options{{
    {"touch", 2, 2, 0, 3, "what is written to a new block: 0 nothing, 1 a byte per page, 2 ends and pages, 3 all"},
    {"repeat", 1, 1, 1, 1'000'000, "how often the trace is replayed in each process"},
    {"wait", 5, 5, 0, 600, "seconds for which memory is read after the last free"},
}};

constexpr std::array<part, 8> parts{{
    {"time", 1},
    {"single calls", 1},
    {"memory", 1, 3},
    {"contents", 1, 1},
    {"time, threads", 2},
    {"later memory", 1, 1, "returned memory"},
    {"distances", 1, 3},
    {"visits", 1},
}};

constexpr std::uint64_t one_thread = 0b1111, all_parts = 0b1111111;
constexpr std::uint64_t advised_parts = one_thread | 1U << part_distances | 1U << part_visits;

constexpr std::array<std::string_view, 9> unfair{
    "A trace has the calls of a program and nothing else. What the program does between them is missing: its cache "
    "misses, its waiting, its input and output. The share of a program's time that allocation takes cannot be seen "
    "here.",
    "A process replays a short trace several times and reports the median: the heap is then warm. The first of these, "
    "on a new heap, is \"first replay\". Time includes the loop (a few ns per call, the same for all) and what is "
    "written to new blocks, and with it the "
    "page faults that the allocator causes.",
    "Single calls are timed with the processor's counter, in one replay on a new heap, apart from the writes; they "
    "take "
    "longer than in the loop, where calls overlap.",
    "A trace does not say whether operator delete was given the size. Replay gives none: a malloc that uses the size "
    "can be faster in the program.",
    "Memory is the process's private pages above what it had before the first call, read at 200 places of the trace "
    "and at its peak of live bytes. \"At the end\" is after everything was freed, \"later\" some time after that in "
    "which nobody calls the malloc: in one round, on one thread. A malloc that returns memory only in its own calls "
    "keeps it then, as in a program that is idle.",
    "The mean of resident per live byte is over the time of the recorded program: the area under resident memory "
    "divided by the area under the live bytes.",
    "Blocks used together: a block, and the one that the same call stack (without stacks: the same size class) had "
    "allocated on the same thread before it, if both are in use. Distance is from the end of one to the begin of the "
    "other. The trace does not say which blocks the program touches, nor when.",
    "One thread does the calls of all, in the order of the trace; the part \"time, threads\" has the threads of the "
    "program, which wait for each other only where a block crosses threads.",
    "The contents of all blocks are checked in processes of their own, with the calls of all threads on one.",
};

constexpr std::array<primary_figure, 3> primary{{{replay_time}, {"p99"}, {replay_peak}}};

constexpr std::array<contestant, 1> mallocs{
    {{.how = route::process_malloc, .role = contestant_role::peer, .parts = all_parts, .run = [](const task& asked) {
          run_replay(asked, 0);
      }}}};

constexpr std::array<contestant, 2> redirected{{
    {.name = as_recorded,
     .how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = advised_parts,
     .run = [](const task& asked) { run_replay(asked, 0); }},
    {.name = as_advised,
     .how = route::process_malloc,
     .role = contestant_role::ours,
     .parts = advised_parts,
     .run = [](const task& asked) { run_replay(asked, 1); }},
}};

std::span<const contestant> mallocs_in_replay() { return mallocs; }
std::span<const contestant> plans_in_advice() { return redirected; }

constexpr std::array<contestant_source, 1> replay_sources{mallocs_in_replay};
constexpr std::array<contestant_source, 1> advice_sources{plans_in_advice};

const std::array<experiment, 2> described{{
    {.name = replay_name,
     .question = "How long do the recorded allocations take on each malloc, and how much memory do they need?",
     .unfair = unfair,
     .baseline = "glibc malloc",
     .options = options,
     .parts = parts,
     .sources = replay_sources,
     .quotients = {},
     .ranking_rule = {},
     .unranked = {},
     .primary = primary,
     .example = "tenure replay FILE"},
    {.name = redirected_name,
     .question = "What does a replay of the same trace save when some blocks come from Tenure?",
     .unfair = unfair,
     .baseline = as_recorded,
     .options = options,
     .parts = parts,
     .sources = advice_sources,
     .quotients = {},
     .ranking_rule = {},
     .unranked = {},
     .primary = primary,
     .example = "tenure advise FILE"},
}};

}

std::span<const experiment> replay_experiments() { return described; }

void note_timer_step(experiment_result& found) {
    double step = 0;
    for (contestant_result& each : found.contestants) {
        for (const metric& one : each.metrics)
            if (one.name == replay_timer_step)
                for (const double sample : one.samples) step = std::max(step, std::isnan(sample) ? 0 : sample);
        std::erase_if(each.metrics, [](const metric& one) { return one.name == replay_timer_step; });
    }
    for (contestant_result& each : found.contestants)
        for (metric& one : each.metrics)
            if (one.variant == calls_allocate || one.variant == calls_free || one.variant == calls_realloc)
                one.resolution = step;
}

bool is_replay_worker(int argc, char** argv) {
    if (argc < 3 || argv[1] != worker_command) return false;
    const std::string_view name = argv[2];
    return name == replay_name || name == redirected_name;
}

}
