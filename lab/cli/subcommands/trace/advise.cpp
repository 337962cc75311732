// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "cli/arguments/nearest.hpp"
#include "cli/arguments/row_choice.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/advice/advice_report.hpp"
#include "observe/replay/report/advise_html.hpp"
#include "observe/replay/report/advise_json.hpp"
#include "observe/replay/report/advise_text.hpp"
#include "observe/replay/report/stack_names.hpp"

namespace tenure::lab {

namespace {

/// Finds the malloc that the replays use. Returns   one with a reason if there is none.
found_malloc find_base(const std::string& name) {
    if (names_a_file(name)) return find_malloc_file(name);
    std::vector<std::string> known{"glibc"};
    for (found_malloc& each : find_mallocs()) {
        if (same_name(each.name, name) || (name == "glibc" && each.name == system_malloc_name)) return each;
        known.push_back(each.name);
    }
    found_malloc none;
    none.reason = unknown_name("malloc", name, known);
    return none;
}

}

advise_command::advise_command(CLI::App& app)
    : command_(app.add_subcommand("advise", "Tells which of a program's blocks could use Temp, pools or arenas")) {
    command_->add_option("--base", base_, "The malloc that the program keeps for everything else: a name or a file")
        ->type_name("NAME")
        ->capture_default_str();
    command_->add_option("--groups", groups_, "How many groups of blocks are looked at, largest first")
        ->check(CLI::Range(1U, 1000U))
        ->type_name("N")
        ->capture_default_str();
    options_.add_to(*command_, 9);
    command_->add_option("--json", json_, "Writes all data as JSON; - means standard output")->type_name("FILE");
    command_
        ->add_option("--html", html_,
                     "Writes a page with a plot of the lifetimes of each group; - means standard output")
        ->type_name("FILE");
    command_->add_option("trace", file_, "A file that `tenure record` has written")->required()->type_name("FILE");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure record --out parse.trace -- ./parse input   records a program\n"
        "  tenure advise parse.trace                          what could be allocated otherwise\n"
        "  tenure advise parse.trace --base jemalloc --html advice.html\n\n"
        "Blocks are grouped by the function that allocates them, then by its callers, then by size. A rule is "
        "learned on one half of a group and checked "
        "on the other; then the trace is replayed with the group in Tenure's memory, against the malloc "
        "of --base, in paired rounds. Advice that saves no time in these is not given.\n\n"
        "Exit codes: 0 ok, also if there is no advice; 2 invalid command line, or a file that is no "
        "trace or is empty; 3 a file or standard output could not be written; 70 the command itself "
        "failed; 130 interrupted.");
}

int advise_command::run() const {
    if (html_ == "-" && json_ == "-") {
        say("standard output takes one of --html and --json");
        return exit_code::bad_usage;
    }
    for (const std::string* const each : {&html_, &json_}) {
        if (const std::string reason = why_not_writable(*each); !reason.empty()) {
            say(reason);
            return exit_code::not_written;
        }
    }
    const found_malloc base = find_base(base_);
    if (!base.found) {
        say("--base: " + base.reason);
        return exit_code::bad_usage;
    }
    advice_settings settings;
    settings.replay = options_.settings();
    settings.max_groups = groups_;
    if (settings.replay.rounds < least_proving_rounds) {
        say(fmt::format("--rounds {} proves nothing: with fewer than {} rounds there is no interval of 95 %",
                        settings.replay.rounds, least_proving_rounds));
        return exit_code::bad_usage;
    }
    const trace recorded = read_for_replay(file_);
    if (!recorded.ok()) return exit_code::bad_usage;
    const interrupt_guard guard;
    const advice_report found = advise_on(recorded, base, settings);
    if (!found.error.empty()) {
        say(fmt::format("{}: {}", file_, found.error));
        return exit_code::bad_usage;
    }
    if (interrupted()) {
        say("interrupted: nothing is shown, because advice without its proof would be a guess");
        return exit_code::interrupted;
    }
    stack_names names(recorded);
    const place_names named = [&](std::uint32_t stack) { return names.of(stack); };
    bool is_written = html_ == "-" || json_ == "-" || print(to_text(found, named, output_style()));
    if (!json_.empty()) is_written = write_to(json_, to_json(found, named)) && is_written;
    if (!html_.empty()) is_written = write_to(html_, to_html(found, named, file_)) && is_written;
    return is_written ? exit_code::ok : exit_code::not_written;
}

}
