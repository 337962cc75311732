// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The subcommands put together, and what is said when the words do not fit.

#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

#include "cli/bench.hpp"
#include "cli/list.hpp"
#include "cli/nearest.hpp"
#include "cli/settings.hpp"
#include "harness/machine.hpp"

namespace tenure::lab {

namespace {

/// The innermost command that was understood.
const CLI::App* innermost(const CLI::App* app) {
    while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
    return app;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(each->get_name());
    }
    return names;
}

/// Options of a command and of those around it, as they are written.
std::vector<std::string> names_of_options(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent()) {
        for (const CLI::Option* each : app->get_options()) {
            for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
        }
    }
    return names;
}

/// "bench lifetimes", when one of the commands below has the option.
std::string owner_of_option(const CLI::App& app, const std::string& option, const std::string& path = {}) {
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
        std::string const name = path.empty() ? each->get_name() : path + " " + each->get_name();
        if (each->get_option_no_throw(option) != nullptr) return name;
        std::string const below = owner_of_option(*each, option, name);
        if (!below.empty()) return below;
    }
    return {};
}

std::string explain_unknown(const CLI::App& app, const std::string& word) {
    const CLI::App* const inside = innermost(&app);
    if (word.starts_with('-')) {
        std::string const option = word.substr(0, word.find('='));
        std::string const owner = owner_of_option(app, option);
        if (!owner.empty()) return fmt::format("{} is an option of `tenure {}`", option, owner);
        return unknown_name("option", option, names_of_options(inside));
    }
    // Behind the name of an experiment stands another one.
    const CLI::App* const above = inside->get_parent();
    const CLI::App* const asked = above != nullptr && above != &app ? above : inside;
    std::vector<std::string> const commands = names_of_commands(*asked);
    if (commands.empty()) return fmt::format("\"{}\" was not expected there", word);
    return unknown_name(asked == &app ? "command" : "experiment", word, commands);
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error); // help, version
    std::vector<std::string> const unknown = app.remaining(true);
    bool const extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty();
    std::string const text = extra ? explain_unknown(app, unknown.front()) : error.what();
    std::fputs(fmt::format("tenure: {}\nTry `tenure --help`.\n", text).c_str(), stderr);
    return exit_code::bad_usage;
}

}

int run_command_line(int argc, char** argv) {
    CLI::App app{"Native memory chosen by how long it is held: measures it beside what you would use instead.",
                 "tenure"};
    app.set_version_flag("--version", "tenure " + library_version());
    app.footer(
        fmt::format("\nExamples:\n"
                    "  tenure bench                                every experiment at its default size\n"
                    "  tenure bench pools --against jemalloc       one experiment, against one peer\n"
                    "  tenure list                                 experiments, allocators, peers found here\n\n{}",
                    exit_codes_help));
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(34);

    bench_command bench(app);
    list_command list(app);
    settings_command settings(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return explain(app, error);
    }
    if (bench.chosen()) return bench.run(argc, argv);
    if (list.chosen()) return list.run();
    if (settings.chosen()) return settings.run();
    std::fputs(app.help().c_str(), stderr);
    return exit_code::bad_usage;
}

}
