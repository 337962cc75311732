// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands.hpp"

#include <CLI/CLI.hpp>

#include "cli/subcommands/bench.hpp"
#include "cli/subcommands/list.hpp"
#include "cli/subcommands/options.hpp"
#include "cli/subcommands/pins.hpp"
#include "cli/subcommands/profile.hpp"
#include "cli/subcommands/report.hpp"
#include "cli/subcommands/run.hpp"
#include "cli/subcommands/trace/advise.hpp"
#include "cli/subcommands/trace/record.hpp"
#include "cli/subcommands/trace/replay.hpp"
#include "cli/subcommands/trace/trace_command.hpp"
#include "cli/subcommands/usage.hpp"
#include "cli/subcommands/watch.hpp"

namespace tenure::lab {

const char* const subcommands::examples =
    "  tenure bench                                all experiments at their default sizes\n"
    "  tenure bench pools --against jemalloc       one experiment against one peer\n"
    "  tenure report results/now                   tables of an earlier result\n"
    "  tenure list                                 experiments, allocators, installed peers\n"
    "  tenure run -- ./game                        run a program, unmodified, with our malloc\n"
    "  tenure profile -- ./server                  show which call stacks hold its memory\n"
    "  tenure watch -- ./game                      show what its threads allocate and wait for\n"
    "  tenure advise -- ./game                     show what of it fits Temp, pools, arenas\n"
    "  tenure usage frames.json --html usage.html  draw its memory by owner tag and frame\n";

subcommands::subcommands(CLI::App& app) {
    add<bench_command>(app);
    add<report_command>(app);
    add<list_command>(app);
    add<run_command>(app);
    add<watch_command>(app);
    add<profile_command>(app);
    add<pins_command>(app);
    add<record_command>(app);
    add<trace_command>(app);
    add<replay_command>(app);
    add<advise_command>(app);
    add<usage_command>(app);
    add<options_command>(app);
}

}
