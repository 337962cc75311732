// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Prepares what to add to a program and what to set, and runs it.

#include "cli/run_only/windows/run.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include <tenure/platform/windows/imports/started_program.hpp>

#include "cli/command_line.hpp"
#include "cli/subcommands/options.hpp"
#include "cli/terminal.hpp"

namespace tenure::lab {

namespace {

// As a shell says it.
constexpr int cannot_run = 126, not_found = 127;

/// An argument as Microsoft's C library reads it: backslashes count only in front of a quote.
std::string quoted_argument(std::string_view argument) {
    if (!argument.empty() && argument.find_first_of(" \t\n\v\"") == std::string_view::npos)
        return std::string{argument};
    std::string made = "\"";
    std::size_t backslashes = 0;
    for (const char letter : argument) {
        if (letter == '"') made.append(backslashes + 1, '\\');
        backslashes = letter == '\\' ? backslashes + 1 : 0;
        made += letter;
    }
    return made.append(backslashes, '\\') + '"';
}

std::string line_of(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& each : words) line += (line.empty() ? "" : " ") + quoted_argument(each);
    return line;
}

struct found_library {
    std::string path, refusal;
};

found_library library_for(const std::string& heap) {
    if (heap == "system") return {};
    const bool is_path = heap.find_first_of("\\/") != std::string::npos;
    const bool is_hardened = heap == "hardened";
    if (!is_path && !is_hardened && heap != "tenure") {
        return {{},
                fmt::format("there is no heap \"{}\": tenure, hardened, system, or the path of a library, with a "
                            "slash or backslash",
                            heap)};
    }
    std::array<char, 4096> beside{};
    const std::string_view own = is_hardened ? "tenure_malloc_hardened.dll" : "tenure_malloc.dll";
    const std::string given = is_path ? heap : std::string{platform::file_beside_program(own, beside)};
    std::error_code error;
    const std::filesystem::path whole =
        std::filesystem::absolute(std::filesystem::path(std::u8string(given.begin(), given.end())), error);
    if (error || !std::filesystem::is_regular_file(whole, error))
        return {{},
                is_path ? fmt::format("--heap {} is not a file", heap)
                        : fmt::format("{} is missing: it belongs beside tenure.exe", given)};
    const std::u8string text = whole.u8string();
    return {std::string(text.begin(), text.end()), {}};
}

std::string words_of_error(std::uint32_t error) {
    std::array<char, 1024> text{};
    const std::string_view words = platform::words_for_error(error, text);
    return words.empty() ? fmt::format("error {}", error) : std::string{words};
}

int tell(const platform::run_result& result, const std::string& program, const std::string& library) {
    using platform::program_run;
    switch (result.how) {
    case program_run::ended: return static_cast<int>(result.exit_code);
    case program_run::not_found: say(fmt::format("there is no program {}", program)); return not_found;
    case program_run::not_run: say(fmt::format("{} cannot be run: {}", program, words_of_error(result.error))); break;
    case program_run::other_machine:
        say(fmt::format("{} is not a program for 64-bit x86, so {} cannot be put into it. `--heap system` runs it "
                        "without",
                        program, library));
        break;
    case program_run::not_added:
        say(fmt::format("{} could not be put into {}: {}", library, program,
                        result.error != 0 ? words_of_error(result.error)
                                          : "its path has letters that the system's code page lacks"));
        break;
    }
    return cannot_run;
}

}

windows_run_command::windows_run_command(CLI::App& app)
    : command_(app.add_subcommand("run", "Runs a program, unmodified, with a malloc of your choice")) {
    command_
        ->add_option("--heap", heap_,
                     "The malloc to use: tenure, hardened (reports the caller's mistakes), system (the C runtime's), "
                     "or the path of a library that replaces malloc and exports a function with the ordinal 1")
        ->type_name("NAME")
        ->capture_default_str();
    command_
        ->add_option("--set", settings_,
                     "Sets one of the options shown by `tenure options` for the program. Repeat --set to set several")
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
    command_->add_flag("--stats{text}", report_,
                       "The program and each program it starts print statistics of the drop-in to standard error when "
                       "they exit; --stats=json for machine-readable output");
    command_
        ->add_option("--limit", limit_,
                     "Maximum bytes in use in the program's heap, with suffix K, M or G. Requests past it fail, and "
                     "the first one writes a report of who holds what to standard error")
        ->type_name("BYTES");
    command_->add_option("program", program_, "The program and its arguments, after --")
        ->required()
        ->type_name("PROGRAM ...");
    command_->footer("\n"
                     "Examples:\n"
                     "  tenure run -- game.exe --level 3\n"
                     "  tenure run --stats -- game.exe                 shows that the drop-in was used\n"
                     "  tenure run --heap hardened -- tests.exe        finds double frees, overflows\n"
                     "  tenure run --limit 512M -- server.exe          requests past 512 MiB fail\n"
                     "  tenure run --set passthrough=heap -- game.exe  same library, blocks from the C runtime\n\n"
                     "Exit codes: the program's own; 2 invalid command line, or the library was not found; 70 the "
                     "command itself failed; 126 the program cannot be run this way; 127 the program was not found.");
}

bool windows_run_command::has_own_malloc() const {
    return heap_ == "tenure" || heap_ == "hardened" || heap_.find("tenure_malloc") != std::string::npos;
}

std::string windows_run_command::refusal() const {
    if (!report_.empty() && !has_own_malloc())
        return fmt::format("only Tenure's malloc supports --stats: remove --stats or --heap {}", heap_);
    if (!limit_.empty() && !has_own_malloc())
        return fmt::format("only Tenure's malloc supports --limit: remove --limit or --heap {}", heap_);
    if (!report_.empty() && report_ != "text" && report_ != "json")
        return fmt::format("--stats={} is not valid; text or json", report_);
    return {};
}

std::string windows_run_command::apply_settings() const {
    const auto set = [](const std::string& setting, std::string_view given_as) {
        named_setting read;
        std::string wrong = read_setting(setting, given_as, read);
        if (wrong.empty()) ::_putenv_s(read.variable.c_str(), read.value.c_str());
        return wrong;
    };
    std::vector<std::string> settings = settings_;
    if (!report_.empty()) settings.push_back("malloc_stats=" + report_);
    for (const std::string& each : settings) {
        if (std::string wrong = set(each, "--set"); !wrong.empty()) return wrong;
    }
    return limit_.empty() ? std::string{} : set("heap_limit_bytes=" + limit_, "--limit");
}

int windows_run_command::run() const {
    std::string wrong = refusal();
    if (wrong.empty()) wrong = apply_settings();
    const found_library library = wrong.empty() ? library_for(heap_) : found_library{};
    if (wrong.empty()) wrong = library.refusal;
    if (!wrong.empty()) {
        say(wrong);
        return exit_code::bad_usage;
    }
    return tell(platform::run_program(line_of(program_), library.path), program_.front(), library.path);
}

}
