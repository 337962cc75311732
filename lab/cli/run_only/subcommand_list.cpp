// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands.hpp"

#include <CLI/CLI.hpp>

#include "cli/subcommands/options.hpp"
#include "cli/subcommands/run.hpp"

namespace tenure::lab {

const char* const subcommands::examples = "  tenure run -- ./game     run a program, unmodified, with our malloc\n"
                                          "  tenure options           settings of the library and their values\n";

subcommands::subcommands(CLI::App& app) {
    add<run_command>(app);
    add<options_command>(app);
}

}
