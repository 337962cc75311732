// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "cli/arguments/nearest.hpp"
#include "cli/arguments/row_choice.hpp"
#include "cli/command_line.hpp"
#include "cli/last_resort.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/programs/traced_program.hpp"
#include "cli/subcommands/trace/separation_advice.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/advice/advice_report.hpp"
#include "observe/replay/report/advise_html.hpp"
#include "observe/replay/report/advise_json.hpp"
#include "observe/replay/report/advise_text.hpp"
#include "observe/replay/report/stack_names.hpp"
#include "report/letters.hpp"
#include "report/temporary_folder.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t recorded_frames = 32; ///< of the stacks of a program that is run

/// Finds the malloc that the replays use. Returns   one with a reason if there is none.
found_malloc find_base(const std::string& name) {
    if (names_a_file(name)) {
        found_malloc file = find_malloc_file(name);
        if (file.found && file.has_offsets) {
            file.found = false;
            file.reason = fmt::format("{} provides an offset allocator and no malloc: only `tenure bench offsets` can "
                                      "use it",
                                      name);
        }
        return file;
    }
    std::vector<std::string> known{"glibc"};
    for (found_malloc& each : find_mallocs()) {
        if (same_name(each.name, name) || (name == "glibc" && each.name == system_malloc_name)) return each;
        known.push_back(each.name);
    }
    found_malloc none;
    none.reason = unknown_name("malloc", name, known);
    return none;
}

/// `name`: if the trace does not tell.
std::string command_line_of(const trace& recorded, const std::string& name) {
    return recorded.arguments.empty() ? name : printable(fmt::format("{}", fmt::join(recorded.arguments, " ")));
}

int say_interrupted() {
    say("interrupted before anything was measured: nothing is shown");
    return exit_code::interrupted;
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
    command_->add_flag("--access", samples_accesses_,
                       "With a program: also watches some of its blocks while it is recorded, and tells which are "
                       "touched together, or never");
    command_->add_option("--json", json_, "Writes all data as JSON; - means standard output")->type_name("FILE");
    command_
        ->add_option("-o,--out", out_,
                     "Finds call sites whose blocks should have heap pages of their own instead, and writes them for "
                     "`tenure run --advice`; - means standard output")
        ->type_name("FILE");
    command_
        ->add_option("--check", checks_,
                     "With -o: a trace of another run. The advice is measured on it too, and withdrawn if it does not "
                     "help there. May be repeated")
        ->allow_extra_args(false)
        ->type_name("TRACE");
    command_
        ->add_option("--html", html_,
                     "Writes a page with a plot of the lifetimes of each group; - means standard output")
        ->type_name("FILE");
    command_
        ->add_option("trace", words_,
                     "A file that `tenure record` has written; or, after --, a program and its arguments, which is "
                     "recorded first")
        ->type_name("FILE or -- PROGRAM");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure advise -- ./parse input                       runs a program, and what it could allocate otherwise\n"
        "  tenure advise --access -- ./parse input              also which of its blocks are touched together\n"
        "  tenure record --stacks 32 -o parse.trace -- ./parse  records a program\n"
        "  tenure advise parse.trace --base jemalloc --html advice.html\n"
        "  tenure advise -o parse.advice --check other.trace parse.trace  for tenure run --advice, without a "
        "rebuild\n\n"
        "A program is recorded with call stacks of 32 frames in a temporary file, and what is said of it goes to "
        "standard error: standard output is the program's. Of several processes the one with the largest trace "
        "counts.\n\n"
        "Blocks are grouped by the call that allocates them, then by its callers, then by size. A rule is "
        "learned on one half of a group and checked "
        "on the other; then the trace is replayed with the group in Tenure's memory, against the malloc "
        "of --base, in paired rounds. Advice that saves no time in these, and in as many others that confirm it, is "
        "not given. The more there is to compare the surer each comparison must be: --rounds is raised if it does not "
        "suffice.\n\n"
        "A trace of tenure record --access also tells which call sites belong into an affinity group, because their "
        "blocks are touched together, and whose blocks are never touched.\n\n"
        "With -o the trace is replayed on Tenure's heap with call sites in pages of their own, and what lowers its "
        "memory most is written. Nothing is said of Temp, pools and arenas. -o takes --check, --touch, --timeout and "
        "--json. A site in a shared library works in every program that loads the same build of it. Code in files "
        "without a build ID gets no sites.\n\n"
        "Exit codes: of a program that is run, its own unless that is 0, or 128 plus the signal's number when a signal "
        "ended it; 0 ok, also if there is no advice; 2 invalid command line, or a file that is no trace or is empty; 3 "
        "a file or standard output could not be written, or the program was not recorded; 70 the command itself "
        "failed; 126 the program cannot be recorded, and was not run; 127 the program was not found; 130 interrupted.");
}

std::string advise_command::mistake_in_options(bool is_run) const {
    if (words_.empty())
        return "nothing was given to advise on: tenure advise -- PROGRAM ... runs and records a program; tenure advise "
               "FILE reads a file of tenure record";
    if (samples_accesses_ && !is_run)
        return "--access is for a program that is run: tenure record --access records what tenure advise FILE reads";
    if (samples_accesses_ && !out_.empty()) return "-o does not use --access: it is for advice without -o";
    if (!is_run && words_.size() > 1)
        return fmt::format("advise takes one trace, and not {} as well. A program and its arguments follow --: tenure "
                           "advise -- PROGRAM ...",
                           words_[1]);
    if (html_ == "-" && json_ == "-") return "standard output takes one of --html and --json";
    if (out_.empty() && !checks_.empty()) return "--check is for the advice file of -o";
    if (!out_.empty() && !html_.empty()) return "-o writes no page: --html is for advice without -o";
    for (const char* const each : {"--base", "--groups", "--rounds", "--repeat", "--seed"})
        if (!out_.empty() && command_->get_option(each)->count() != 0)
            return fmt::format("-o does not use {}: it is for advice without -o", each);
    if (out_ == "-" && (json_ == "-" || is_run))
        return is_run ? "standard output is the program's: -o - is for a recorded trace"
                      : "standard output takes one of -o and --json";
    if (is_run && (json_ == "-" || html_ == "-"))
        return fmt::format("standard output is the program's: {} - is for a recorded trace",
                           json_ == "-" ? "--json" : "--html");
    if (options_.settings().rounds < least_rounds())
        return fmt::format("--rounds {} proves nothing: with fewer than {} rounds there is no interval of 95 %",
                           options_.settings().rounds, least_rounds());
    return {};
}

int advise_command::run(int argc, char** argv) const {
    return run_and_tell([&] { return advise(argc, argv); }, large_trace_hint);
}

int advise_command::advise(int argc, char** argv) const {
    const bool is_run = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
    if (const std::string mistake = mistake_in_options(is_run); !mistake.empty()) {
        say(mistake);
        return exit_code::bad_usage;
    }
    for (const std::string* const each : {&html_, &json_, &out_}) {
        if (const std::string reason = why_not_writable(*each, is_run ? std::string{} : words_.front());
            !reason.empty()) {
            say(reason);
            return exit_code::not_written;
        }
    }
    if (const std::string reason = why_no_checks(checks_, is_run ? std::string{} : words_.front()); !reason.empty()) {
        say(reason);
        return exit_code::bad_usage;
    }
    const found_malloc base = find_base(base_);
    if (!base.found) {
        say("--base: " + base.reason);
        return exit_code::bad_usage;
    }
    return is_run ? record_and_advise(base) : advise_file(words_.front(), base, origin::file);
}

int advise_command::record_and_advise(const found_malloc& base) const {
    const temporary_folder folder("tenure-advise-");
    if (!folder.is_there()) {
        say(fmt::format("cannot create a folder for the trace: {}. Set TMPDIR to a folder in which you may write, or "
                        "record with tenure record -o FILE",
                        folder.refusal()));
        return exit_code::not_written;
    }
    trace_request request;
    request.file = folder.path() + "/" + fs::path(words_.front()).filename().string() + ".trace";
    request.stacks = recorded_frames;
    request.samples_accesses = samples_accesses_;
    // While the program runs, Ctrl-C is for the program. After that it must not leave the folder behind.
    std::optional<interrupt_guard> guard;
    request.at_end = [&] { guard.emplace(); };
    const traced_program recorded = trace_program(words_, request);
    if (interrupted()) return say_interrupted();
    if (recorded.traces.empty()) return recorded.code;
    // A program may start the one that does the work.
    const std::string& largest = recorded.traces.front().path;
    const bool is_alone = recorded.traces.size() == 1;
    const int advised = advise_file(largest, base, is_alone ? origin::only_process : origin::one_of_several);
    return recorded.code != exit_code::ok ? recorded.code : advised;
}

int advise_command::advise_file(const std::string& file, const found_malloc& base, origin from) const {
    const bool is_run = from != origin::file;
    trace recorded = read_for_replay(file);
    if (!recorded.ok()) return exit_code::bad_usage;
    if (is_run && interrupted()) return say_interrupted();
    const std::string shown = is_run ? command_line_of(recorded, words_.front()) : file;
    if (from == origin::one_of_several)
        say(fmt::format("several programs were recorded: advice is of process {}, {}, which has the largest trace. "
                        "`tenure record` keeps them all",
                        recorded.process, shown));
    if (!out_.empty()) {
        separation_request request{out_, file, json_, checks_, shown, is_run ? report_stream::err : report_stream::out,
                                   {}};
        request.replay.touch = options_.settings().touch;
        request.replay.timeout = options_.settings().timeout;
        return advise_separation(recorded, request);
    }
    stack_names names(recorded);
    advice_settings settings;
    settings.replay = options_.settings();
    settings.max_groups = groups_;
    settings.functions = [&](std::uint64_t address) { return names.function_of(address); };
    const interrupt_guard guard;
    const advice_report found = advise_on(recorded, base, settings);
    if (!found.error.empty()) {
        say(fmt::format("{}: {}", shown, found.error));
        return exit_code::bad_usage;
    }
    const place_names named = [&](std::uint32_t stack) { return names.of(stack); };
    // Files first: nobody may read standard output any more, and then writing to it ends the process.
    bool is_written = true;
    if (!json_.empty()) is_written = write_to(json_, to_json(found, named));
    if (!html_.empty()) is_written = write_to(html_, to_html(found, named, shown)) && is_written;
    if (is_run)
        std::fputs(to_text(found, named, output_style()).c_str(), stderr); // standard output is the program's
    else if (html_ != "-" && json_ != "-")
        is_written = print(to_text(found, named, output_style())) && is_written;
    if (!found.is_complete) return exit_code::interrupted;
    return is_written ? exit_code::ok : exit_code::not_written;
}

}
