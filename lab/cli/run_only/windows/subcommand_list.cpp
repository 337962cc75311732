// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The subcommands on Windows. Those of Linux are listed, too, and say that they are not there.

#include "cli/subcommands.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/run_only/windows/run.hpp"
#include "cli/subcommands/options.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

namespace {

/// A subcommand that Windows does not have.
class missing_command {
public:
    missing_command(CLI::App& app, const char* name) : command_(app.add_subcommand(name, "Not on Windows")) {
        command_->prefix_command(); // whatever follows
    }
    [[nodiscard]] bool chosen() const { return command_->parsed(); }
    [[nodiscard]] int run() const {
        say(fmt::format("`tenure {}` is not there on Windows, only on Linux. Windows has `tenure run` and "
                        "`tenure options`",
                        command_->get_name()));
        return exit_code::bad_usage;
    }

private:
    CLI::App* command_;
};

constexpr std::array missing_commands{"bench",  "report", "list",   "watch",  "profile", "pins",
                                      "record", "trace",  "replay", "advise", "usage"};

}

const char* const subcommands::examples =
    "  tenure run -- game.exe --level 3            run a program, unmodified, with our malloc\n"
    "  tenure run --stats -- game.exe              and print what it has served\n"
    "  tenure run --heap hardened -- tests.exe     find double frees, overflows, foreign pointers\n"
    "  tenure options                              every setting of the library\n";

subcommands::subcommands(CLI::App& app) {
    add<windows_run_command>(app);
    add<options_command>(app);
    for (const char* name : missing_commands) {
        const auto command = std::make_shared<missing_command>(app, name);
        all_.push_back({[command] { return command->chosen(); }, [command](int, char**) { return command->run(); }});
    }
}

}
