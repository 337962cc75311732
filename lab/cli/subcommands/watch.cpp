// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Creates a folder for the recordings, runs the program with the hook preloaded, and reports on the recordings.

#include "cli/subcommands/watch.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/arguments/nearest.hpp"
#include "cli/arguments/whole_number.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/subcommands/recordings_folder.hpp"
#include "cli/subcommands/watch_list.hpp"
#include "cli/terminal.hpp"
#include "observe/hook/record/settings.hpp"
#include "observe/symbols/symbols.hpp"
#include "observe/watch/baseline.hpp"
#include "observe/watch/findings.hpp"
#include "observe/watch/patch_plan.hpp"
#include "observe/watch/recording.hpp"
#include "observe/watch/report/folded.hpp"
#include "observe/watch/report/watch_html.hpp"
#include "observe/watch/report/watch_json.hpp"
#include "observe/watch/report/watch_text.hpp"
#include "report/read_file.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view function_prefix = "function:";
constexpr std::int64_t max_shown = 1'000'000; // limit for the number of rows, places and frames
constexpr std::uint64_t max_baseline_bytes = std::uint64_t{16} << 20U;

const std::vector<std::string>& region_words() {
    static const std::vector<std::string> words{"auto", "openmp", "tbb", "threads", "marks", "process"};
    return words;
}

/// Tenure's blocks come from malloc for this run, so that they are seen, unless one of Tenure's mallocs is in the
/// process.
void let_tenures_be_seen() {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    if (preloaded != nullptr && std::strstr(preloaded, "libtenure_malloc") != nullptr) return;
    ::setenv("TENURE_PASSTHROUGH", "all", 0);
}

[[nodiscard]] bool write_file(const std::string& path, const std::string& text) {
    if (path == "-") return print(text);
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (file) return true;
    say(fmt::format("{} could not be written: {}", path, std::strerror(errno)));
    return false;
}

/// One of the words. "--" passes as well: mistake_in_options() says what is missing.
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& words) {
    CLI::Validator member = CLI::IsMember(words);
    return CLI::Validator([member](std::string& each) { return each == "--" ? std::string{} : member(each); },
                          member.get_description());
}

}

watch_command::watch_command(CLI::App& app)
    : command_(app.add_subcommand("watch", "Shows what a program's parallel regions allocate and wait for")) {
    command_
        ->add_option(
            "--region", regions_,
            "What to watch: auto (OpenMP, TBB and std::execution, threads that the program starts, marks), or one "
            "or more of openmp, tbb, threads, marks, process, function:NAME, separated by commas")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("WHAT")
        ->capture_default_str();
    command_
        ->add_option("--stacks", stacks_,
                     "How calls are told apart: tables (works with any program), frames (frame pointers; a little "
                     "faster), none (by the calling line)")
        ->check(one_of({"tables", "frames", "none"}))
        ->capture_default_str();
    command_
        ->add_option("--slow-ns", slow_ns_,
                     "Examines calls that take longer than this: did the thread sleep in a lock of the C library, "
                     "or did the kernel give it pages?")
        ->transform(whole_number(100, 1'000'000'000))
        ->type_name("NS")
        ->capture_default_str();
    command_
        ->add_option("--tenure", tenures_,
                     "Tenure's own blocks: seen (they come from malloc for this run) or own (they come from their "
                     "usual place and are not seen)")
        ->check(one_of({"seen", "own"}))
        ->capture_default_str();
    command_->add_flag("--no-children", without_children_,
                       "Watches only the program itself, not the processes that "
                       "it starts");
    command_->add_option("--sites", sites_, "Number of places shown for each region")
        ->transform(whole_number(0, max_shown))
        ->type_name("N")
        ->capture_default_str();
    command_->add_option("--regions", shown_regions_, "Number of regions shown")
        ->transform(whole_number(0, max_shown))
        ->type_name("N")
        ->capture_default_str();
    command_->add_option("--frames", frames_, "Number of the program's functions shown for each place")
        ->transform(whole_number(0, max_shown))
        ->type_name("N")
        ->capture_default_str();
    command_->add_option("-o,--output", text_file_, "Writes the table to this file instead of standard error")
        ->type_name("FILE");
    command_->add_option("--json", json_file_, "Writes all data as JSON; - means standard output")->type_name("FILE");
    command_->add_option("--html", html_file_, "Writes a page with the threads' timeline")->type_name("FILE");
    command_->add_option("--folded", folded_file_, "Writes stacks with their cost in ns, for flame graphs")
        ->type_name("FILE");
    command_
        ->add_option("--fail-on", fail_on_,
                     "allocation, wait, free, lock, or several, as in allocation,wait: exits with --fail-code when a "
                     "place has any that the baseline does not name; a lock only inside a no_wait_scope")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(one_of({"allocation", "wait", "free", "lock"}))
        ->type_name("WHAT");
    command_->add_option("--baseline", baseline_, "File of known places; only other places count as failures")
        ->type_name("FILE");
    command_
        ->add_option("--write-baseline", written_baseline_,
                     "Writes the places of this run to this file as a "
                     "baseline")
        ->type_name("FILE");
    command_->add_option("--fail-code", fail_code_, "Exit code when --fail-on finds something")
        ->transform(whole_number(1, 125))
        ->type_name("N")
        ->capture_default_str();
    command_->add_option("--keep", keep_, "Keeps the recordings in this folder")->type_name("DIR");
    command_->add_option("--from", from_, "Reports on recordings that were kept; runs nothing")->type_name("DIR");
    command_->add_flag("--list", lists_, "Lists the functions that are interposed, and what can stay hidden");
    command_->add_option("program", program_, "The program and its arguments, after --")->type_name("PROGRAM ...");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure watch -- ./serializer --threads 8\n"
        "  tenure watch --html watch.html -- ./game              the threads' timeline\n"
        "  tenure watch --region function:format_object -- ./serializer\n"
        "  tenure watch --region marks --fail-on allocation,free,lock,wait -- ./game  no-wait scopes\n"
        "  tenure watch --fail-on allocation,wait --baseline known.txt -- ./tests     for CI\n\n"
        "Exit codes: the program's own, or 128 plus the signal's number when a signal ended it; --fail-code (99) for "
        "--fail-on; 2 invalid command line, or the library was not found; 3 a file could not be written; 70 the "
        "command itself failed; 126 the program cannot be watched; 127 the program was not found.");
}

int watch_command::run() const {
    if (lists_) return print(list_of_calls()) ? exit_code::ok : exit_code::not_written;
    if (const std::string mistake = mistake_in_options(); !mistake.empty()) {
        say(mistake);
        return exit_code::bad_usage;
    }
    for (const std::string* each : {&text_file_, &json_file_, &html_file_, &folded_file_, &written_baseline_}) {
        if (const std::string reason = why_not_writable(*each); !reason.empty()) {
            say(reason);
            return exit_code::not_written;
        }
    }
    baseline known;
    if (!baseline_.empty() && !read_known(known)) return exit_code::bad_usage;
    if (!from_.empty()) return report(from_, {}, {}, known, 0);
    const program_choice chosen = choose_program(program_.front(), "watched");
    if (!chosen.refusal.empty()) {
        say(chosen.refusal);
        return chosen.code;
    }
    const std::string& path = chosen.path;
    const std::string library = find_own_library("libtenure_watch.so");
    if (library.empty()) {
        say("libtenure_watch.so was found neither beside the command nor in the library folder of the installation");
        return exit_code::bad_usage;
    }
    const recordings_folder folder(keep_);
    if (!folder.refusal().empty()) {
        say(folder.refusal());
        return exit_code::not_written;
    }
    std::vector<std::string> functions;
    if (const std::string refusal = plan_functions(path, folder.path(), functions); !refusal.empty()) {
        say(refusal);
        return cannot_run;
    }
    const ended_program ended = watch_program(path, preloadable(library, folder.path()), folder.path());
    if (ended.process <= 0) return cannot_run;
    std::vector<std::string> notices;
    if (ended.signal == SIGBUS && folder.is_full()) {
        notices.push_back(fmt::format("{} is full, and writing to a mapped file without space kills its process: "
                                      "use --keep DIR or TMPDIR to choose another place",
                                      folder.path()));
    }
    if (ended.signal == SIGSYS) {
        notices.emplace_back("a system call filter (seccomp) killed the program: it allows fewer calls than the "
                             "watch needs");
    }
    const int judged = report(folder.path(), functions, std::move(notices), known, ended.code);
    return ended.code != 0 ? ended.code : judged;
}

/// Returns   a sentence about what is wrong with the command line; empty when it is valid.
std::string watch_command::mistake_in_options() const {
    for (const CLI::Option* const each : command_->get_options()) {
        if (each->count() > 0 && each->nonpositional() && each->results().back() == "--")
            return fmt::format("{} needs a value before --", each->get_name());
    }
    if (from_.empty() == program_.empty()) {
        return from_.empty() ? "no program was given: tenure watch -- PROGRAM ..."
                             : "--from reports on kept recordings: leave out either the program or --from";
    }
    for (const char* of_a_run : {"--region", "--stacks", "--slow-ns", "--tenure", "--no-children", "--keep"}) {
        if (!from_.empty() && command_->count(of_a_run) > 0)
            return fmt::format("{} applies to a run; --from only reports on an earlier one", of_a_run);
    }
    for (const std::string& each : regions_) {
        if (each.starts_with(function_prefix) && each.size() > function_prefix.size()) continue;
        if (std::find(region_words().begin(), region_words().end(), each) != region_words().end()) continue;
        return unknown_name("region", each, region_words()) + " Write a function as function:NAME.";
    }
    if (!baseline_.empty() && fail_on_.empty())
        return "--baseline has no effect without --fail-on: add --fail-on allocation,wait";
    const std::array<const std::string*, 5> outputs{&text_file_, &json_file_, &html_file_, &folded_file_,
                                                    &written_baseline_};
    for (std::size_t index = 0; index < outputs.size(); ++index) {
        for (std::size_t other = 0; other < index; ++other) {
            if (!outputs[index]->empty() && *outputs[index] == *outputs[other])
                return fmt::format("two reports would be written to {}: name two files", *outputs[index]);
        }
    }
    return {};
}

/// Writes the plan to the folder.
/// Returns   what cannot be watched, and why; empty when everything can.
std::string watch_command::plan_functions(const std::string& program, const std::string& folder,
                                          std::vector<std::string>& names) const {
    const std::string path = folder + "/" + plan_name;
    std::ofstream file;
    std::vector<hook::planned_patch> planned;
    for (const std::string& each : regions_) {
        if (!each.starts_with(function_prefix)) continue;
        const std::string name = each.substr(function_prefix.size());
        const function_plan plan = plan_function(program, name);
        if (!plan.refusal.empty()) return fmt::format("{} cannot be watched: {}", name, plan.refusal);
        const bool is_known = std::any_of(planned.begin(), planned.end(), [&](const hook::planned_patch& other) {
            return other.address == plan.patch.address && std::strcmp(other.module, plan.patch.module) == 0;
        });
        if (is_known) continue;
        if (planned.size() == hook::max_patches)
            return fmt::format("at most {} functions can be watched", hook::max_patches);
        planned.push_back(plan.patch);
        names.emplace_back(plan.patch.name);
        if (!file.is_open()) file.open(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(&plan.patch), sizeof plan.patch);
    }
    if (file.is_open()) {
        file.close();
        if (!file) return fmt::format("{} could not be written", path);
        ::setenv(hook::plan_variable, path.c_str(), 1);
    }
    return {};
}

/// Returns   how it ended, with its exit code as a shell reports it; no process when it was not run.
ended_program watch_command::watch_program(const std::string& path, const std::string& library,
                                           const std::string& folder) const {
    std::string regions;
    for (const std::string& each : regions_) {
        if (each.starts_with(function_prefix)) continue;
        regions += (regions.empty() ? "" : ",") + (each == "auto" ? std::string{"openmp,tbb,threads,marks"} : each);
    }
    // Only the named functions are watched. Marks stay enabled, because they cost nothing.
    ::setenv(hook::regions_variable, regions.empty() ? "marks" : regions.c_str(), 1);
    ::setenv(hook::folder_variable, folder.c_str(), 1);
    ::setenv(hook::stacks_variable, stacks_.c_str(), 1);
    ::setenv(hook::slow_variable, std::to_string(slow_ns_).c_str(), 1);
    if (tenures_ == "seen") let_tenures_be_seen();
    const ended_program ended = run_program(path, program_, [&] {
        if (without_children_) ::setenv(hook::process_variable, std::to_string(::getpid()).c_str(), 1);
        preload_first(library);
    });
    if (ended.process <= 0) return ended;
    const std::uint64_t ticks = __builtin_ia32_rdtsc();
    note_seen_end(folder, {static_cast<std::uint32_t>(ended.process), ended.signal, ended.code, ticks});
    return ended;
}

int watch_command::report(const std::string& folder, const std::vector<std::string>& functions,
                          std::vector<std::string> notices, const std::set<site_name>& known, int program_code) const {
    ::signal(SIGPIPE, SIG_IGN); // a closed pipe becomes a write error, and the recordings are still removed
    const std::vector<std::unique_ptr<recording>> recordings = recordings_of(folder, notices);
    if (recordings.empty()) {
        for (const std::string& each : notices) say(each);
        say(from_.empty() ? "the program left no recording: it removed LD_PRELOAD, or ended before the library was "
                            "loaded"
                          : fmt::format("there is no recording in {}", folder));
        return from_.empty() ? cannot_run : exit_code::bad_usage;
    }
    symbols names;
    findings found = explain(recordings, names);
    found.notices.insert(found.notices.end(), notices.begin(), notices.end());
    for (const std::string& each : functions) {
        const bool was_called = std::any_of(found.regions.begin(), found.regions.end(), [&](const auto& region) {
            return region.kind == hook::region_kind::function && region.name == each;
        });
        if (!was_called) found.notices.push_back(fmt::format("no call of {} was seen", each));
    }
    text_choice choice{sites_, shown_regions_, frames_, colour::plain};
    bool written = true;
    if (text_file_.empty()) {
        if (::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr) choice.colours = colour::ansi;
        std::fputs(("\n" + to_text(found, choice)).c_str(), stderr);
    } else {
        written = write_file(text_file_, to_text(found, choice));
    }
    if (!json_file_.empty()) written = write_file(json_file_, to_json(found)) && written;
    if (!html_file_.empty()) written = write_file(html_file_, to_html(found)) && written;
    if (!folded_file_.empty()) written = write_file(folded_file_, to_folded(found)) && written;
    if (!written_baseline_.empty()) written = write_file(written_baseline_, write_baseline(found)) && written;
    if (!written) return exit_code::not_written;
    return judge(found, known, program_code);
}

/// Reads the baseline's file.
/// Returns   false when it cannot be read; the error has been reported then.
bool watch_command::read_known(std::set<site_name>& known) const {
    const file_text read = read_file(baseline_, max_baseline_bytes);
    if (!read.ok()) {
        say(fmt::format("--baseline {} {}", baseline_, read.error));
        return false;
    }
    std::string error;
    known = read_baseline(read.text, error);
    if (!error.empty()) say(fmt::format("{}: {}", baseline_, error));
    return error.empty();
}

int watch_command::judge(const findings& found, const std::set<site_name>& known, int program_code) const {
    if (fail_on_.empty()) return exit_code::ok;
    const auto asks = [this](std::string_view what) {
        return std::find(fail_on_.begin(), fail_on_.end(), what) != fail_on_.end();
    };
    const std::vector<site_name> fresh =
        new_sites(found, known, {asks("allocation"), asks("wait"), asks("free"), asks("lock")});
    if (fresh.empty()) return exit_code::ok;
    for (const site_name& each : fresh) say(fmt::format("{}: {}", baseline_.empty() ? "found" : "new", shown(each)));
    const std::string places = fresh.size() == 1 ? "1 place" : fmt::format("{} places", fresh.size());
    const int code = program_code != 0 ? program_code : fail_code_;
    say(fmt::format("--fail-on: {}; exit {}; --write-baseline FILE accepts them", places, code));
    return fail_code_;
}

}
