// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Parses the command line and explains errors in it. The subcommands are listed in subcommands.cpp.

#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/harness/machine/machine.hpp"
#include "cli/arguments/nearest.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

namespace {

/// The innermost command that was recognized.
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

/// Options of a command and of its parents, as they are written.
std::vector<std::string> names_of_options(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent()) {
        for (const CLI::Option* each : app->get_options()) {
            for (const std::string& name : each->get_lnames()) {
                // Every command has its own --help.
                if (std::find(names.begin(), names.end(), "--" + name) == names.end()) names.push_back("--" + name);
            }
        }
    }
    return names;
}

/// The command that has the option ("bench lifetimes"), searched among the commands below `app`; empty when none has
/// it.
std::string owner_of_option(const CLI::App& app, const std::string& option, const std::string& path = {}) {
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
        const std::string name = path.empty() ? each->get_name() : path + " " + each->get_name();
        if (each->get_option_no_throw(option) != nullptr) return name;
        const std::string below = owner_of_option(*each, option, name);
        if (!below.empty()) return below;
    }
    return {};
}

std::string explain_unknown(const CLI::App& app, const std::string& word) {
    const CLI::App* const inside = innermost(&app);
    if (word.starts_with('-')) {
        const std::string option = word.substr(0, word.find('='));
        if (inside->get_name() == "run" || inside->get_name() == "watch") {
            return unknown_name("option", option, names_of_options(inside)) +
                   fmt::format(" Write the program and its options after --: tenure {} -- PROGRAM ...",
                               inside->get_name());
        }
        const std::string owner = owner_of_option(app, option);
        if (!owner.empty()) return fmt::format("{} is an option of `tenure {}`", option, owner);
        return unknown_name("option", option, names_of_options(inside));
    }
    // After the name of an experiment, another experiment's name may follow.
    const CLI::App* const above = inside->get_parent();
    const bool is_experiment = above != nullptr && above->get_name() == "bench";
    const CLI::App* const asked = is_experiment ? above : inside;
    const std::vector<std::string> commands = names_of_commands(*asked);
    if (commands.empty()) return fmt::format("unexpected argument \"{}\"", word);
    return unknown_name(asked->get_name() == "bench" ? "experiment" : "command", word, commands);
}

/// The innermost recognized command as it is written: "tenure bench pools".
std::string path_of(const CLI::App* inside) {
    std::string path = inside->get_name();
    for (inside = inside->get_parent(); inside != nullptr; inside = inside->get_parent()) {
        path = inside->get_name() + " " + path;
    }
    return path;
}

/// Explains a missing option value. CLI11's own text is "--rounds: 1 required N missing".
std::string explain_missing_value(const CLI::App& app, const std::string& said) {
    const std::string name = said.substr(0, said.find_first_of(": "));
    for (const CLI::App* inside = innermost(&app); inside != nullptr; inside = inside->get_parent()) {
        const CLI::Option* const option = inside->get_option_no_throw(name);
        if (option == nullptr || option->get_items_expected_min() == 0) continue;
        const int wanted = option->get_items_expected_min();
        const std::string type = option->get_type_name();
        return fmt::format("{} needs {}: {} {}", name, wanted == 1 ? "a value" : fmt::format("{} values", wanted), name,
                           type.substr(0, type.find(':'))); // the range follows the colon
    }
    return said;
}

/// The word to explain. After a misspelt option of `run` or `watch`, its value is taken for the program and the program
/// for an extra word, so the option comes first. What follows -- belongs to the program.
std::string first_mistake(const std::vector<std::string>& unknown, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "--") break;
        if (word.starts_with('-') && std::find(unknown.begin(), unknown.end(), word) != unknown.end()) return word;
    }
    return unknown.front();
}

std::string sentence_of(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
    const std::vector<std::string> unknown = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty()) {
        return explain_unknown(app, first_mistake(unknown, words));
    }
    const std::vector<std::string> commands = names_of_commands(*innermost(&app));
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands.empty()) {
        if (!unknown.empty()) return explain_unknown(app, first_mistake(unknown, words));
        return fmt::format("a subcommand is required: {}", fmt::join(commands, ", "));
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return explain_missing_value(app, error.what());
    return error.what();
}

int explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error); // help, version
    const std::string text = sentence_of(app, error, words);
    say(text);
    std::fputs(fmt::format("Try `{} --help`.\n", path_of(innermost(&app))).c_str(), stderr);
    return exit_code::bad_usage;
}

/// The words of the command line; `tenure help bench` becomes `tenure bench --help`.
std::vector<std::string> words_of(int argc, char** argv) {
    if (argc < 1) return {};
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        words.push_back("--help");
    }
    return words;
}

}

int run_command_line(int argc, char** argv) {
    CLI::App app{"Native memory chosen by how long it is held: measures it beside the allocators you would use "
                 "instead.",
                 "tenure"};
    app.set_version_flag("--version", "tenure " + library_version());
    app.footer(fmt::format("\nExamples:\n{}\n{}", subcommands::examples, exit_codes_help));
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(34);

    const subcommands all(app);
    const std::vector<std::string> words = words_of(argc, argv);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend())); // CLI11 expects the last word first
    } catch (const CLI::ParseError& error) {
        return explain(app, error, words);
    }
    if (const auto code = all.run(argc, argv)) return *code;
    std::fputs(app.help().c_str(), stderr);
    return exit_code::bad_usage;
}

}
