// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Runs a program under the drop-in with its heap profile on, and shows what it has saved.

#include "cli/subcommands/profile.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/programs/profiled_program.hpp"
#include "cli/terminal.hpp"
#include "observe/profile/difference.hpp"
#include "observe/profile/report/pprof.hpp"
#include "observe/profile/report/profile_folded.hpp"
#include "observe/profile/report/profile_html.hpp"
#include "observe/profile/report/profile_json.hpp"
#include "observe/profile/report/profile_text.hpp"

namespace tenure::lab {

namespace {}

profile_command::profile_command(CLI::App& app)
    : command_(app.add_subcommand("profile", "Shows which call stacks hold a program's memory")) {
    command_
        ->add_option("--sample", sample_,
                     "Allocated bytes between two that are recorded, on average, with suffix K, M or G. Less is more "
                     "precise and slower; 512K if it is not given")
        ->type_name("BYTES");
    command_
        ->add_option("--out", out_,
                     "Folder for the page, the pprof file, the folded stacks and the profiles themselves; "
                     "tenure-profile-PROCESS if it is not given")
        ->type_name("DIR");
    command_->add_option("--every", every_, "Also saves a profile at intervals: 500ms, 60s, 5m, 1h")->type_name("TIME");
    command_->add_flag(
        "--at-peak", at_peak_,
        "Shows what was live when the live bytes were highest. Of a run, a file is saved then, each time "
        "that they have grown by a tenth: with the ages of blocks, and also if the program is killed");
    command_
        ->add_option(
            "--by", by_,
            "What the table is sorted by, and the folded stacks count: live, allocated, peak; if it is not given, "
            "peak for a profile that was saved at the program's end, live for others")
        ->check(CLI::IsMember(std::vector<std::string>{"live", "allocated", "peak"}))
        ->type_name("WHAT");
    shown_.add_options(*command_);
    command_->add_option("--html", html_, "Writes a page with flame graphs; - means standard output")
        ->type_name("FILE");
    command_->add_option("--pprof", pprof_, "Writes pprof's format, compressed: for `pprof -http=: FILE`")
        ->type_name("FILE");
    command_->add_option("--folded", folded_, "Writes folded stacks with their bytes, for flame graphs")
        ->type_name("FILE");
    command_->add_option("--json", json_, "Writes all data as JSON; - means standard output")->type_name("FILE");
    command_
        ->add_option("--diff", difference_,
                     "Compares two saved profiles, or files of pprof's format (.pb.gz): what the second has more")
        ->expected(2)
        ->type_name("BEFORE AFTER");
    attached_.add_options(
        *command_, "Profiles a process that runs under the drop-in already, for the time of --for, and shows what it "
                   "has allocated since and still holds. Only those who may debug the process can do that");
    command_->add_option("program", words_, "Profiles that were saved; or, after --, the program and its arguments")
        ->type_name("FILE or -- PROGRAM");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure profile -- ./server --port 80               the table at the end; page and pprof file in a folder\n"
        "  tenure profile --every 60s --out DIR -- ./server   also saves a profile every minute\n"
        "  tenure profile --at-peak -- ./server               who held the memory when it was most\n"
        "  tenure profile --attach 1234 --for 60s             a server that runs under the drop-in\n"
        "  tenure profile server.1234.exit.heapprofile        shows a file that a program has saved "
        "(TENURE_PROFILE=1,\n"
        "                                                     tn_profile_save, HeapProfile.Save)\n"
        "  tenure profile --pprof heap.pb.gz FILE             converts it for pprof\n"
        "  tenure profile --diff before.heapprofile after.heapprofile\n"
        "  tenure profile --diff before.pb.gz after.pb.gz     pprof's files, also of other programs\n\n"
        "Exit codes: the program's own, or 128 plus the signal's number when a signal ended it; 2 invalid command "
        "line, "
        "a file that is no profile, or the library was not found; 3 a file could not be written; 70 the command itself "
        "failed; 126 the program cannot be profiled; 127 the program was not found.");
}

profile_value profile_command::value(profile_format::occasion saved_at) const {
    if (by_ == "allocated") return &profile_stack::allocated;
    if (by_ == "live") return &profile_stack::live;
    if (saved_at == profile_format::occasion::peak && by_.empty()) return &profile_stack::live;
    const bool is_peak = at_peak_ || by_ == "peak" || saved_at == profile_format::occasion::exit;
    return is_peak ? &profile_stack::at_peak : &profile_stack::live;
}

std::string profile_command::mistake_in_options() const {
    const bool is_run = !words_.empty() && !words_.front().ends_with(profile_suffix);
    if (attached_.process != 0 && !(words_.empty() && difference_.empty()))
        return "--attach profiles a process that runs: leave out programs and files";
    if (const std::string mistake = attached_.mistake_in(*command_); !mistake.empty()) return mistake;
    if (words_.empty() && difference_.empty() && attached_.process == 0)
        return "nothing was given to show: tenure profile -- PROGRAM ..., or tenure profile FILE.heapprofile";
    if (!words_.empty() && !difference_.empty()) return "--diff compares two files: leave out all other names";
    for (const char* const of_a_run : {"--sample", "--every", "--out"}) {
        if (!is_run && command_->count(of_a_run) > 0)
            return fmt::format("{} applies to a run: tenure profile {} … -- PROGRAM", of_a_run, of_a_run);
    }
    if (at_peak_ && !by_.empty() && by_ != "peak") return "--at-peak and --by contradict each other";
    if (const std::string mistake = mistake_in(profile_request{sample_, every_, {}}); !mistake.empty()) return mistake;
    const std::array<std::string_view, 4> outputs{html_, pprof_, folded_, json_};
    if (std::count(outputs.begin(), outputs.end(), "-") > 1)
        return "standard output takes one of --html, --pprof, --folded and --json";
    if (words_.size() > 1 && !is_run) {
        for (const std::string* const each : {&html_, &pprof_, &folded_, &json_}) {
            if (!each->empty()) return fmt::format("{} would be written for each of the files: name one", *each);
        }
    }
    return {};
}

int profile_command::run() const {
    if (const std::string mistake = mistake_in_options(); !mistake.empty()) {
        say(mistake);
        return exit_code::bad_usage;
    }
    for (const std::string* const each : {&html_, &pprof_, &folded_, &json_}) {
        if (const std::string reason = why_not_writable(*each); !reason.empty()) {
            say(reason);
            return exit_code::not_written;
        }
    }
    if (!difference_.empty()) return show_difference();
    if (attached_.process != 0) return attach();
    return words_.front().ends_with(profile_suffix) ? show_files() : run_and_show();
}

int profile_command::run_and_show() const {
    const std::string folder = out_.empty() ? fmt::format("tenure-profile-{}", ::getpid()) : out_;
    const recorded_profiles recorded = record_program(words_, {sample_, every_, folder, at_peak_});
    if (recorded.shown.empty()) return recorded.code;
    const int shown_code = show(recorded.shown, folder);
    name_others(recorded.others, "tenure profile", folder);
    return recorded.code != 0 ? recorded.code : shown_code;
}

int profile_command::show_files() const {
    int code = exit_code::ok;
    for (const std::string& each : words_) code = std::max(code, show(each, {}));
    return code;
}

/// Shows one file and writes what was asked for, and all forms into `folder` if there is one.
int profile_command::show(const std::string& file, const std::string& folder) const {
    const saved_profile saved = load_profile(file);
    if (!saved.ok()) {
        say(saved.error);
        return exit_code::bad_usage;
    }
    symbols names;
    const named_profile profile = name_profile(saved, names);
    profile_choice choice;
    choice.stacks = shown_.stacks;
    choice.frames = shown_.frames;
    choice.value = value(saved.header.written_at);
    choice.width = output_style().width;
    const bool is_run = !folder.empty();
    const std::string text = to_text(profile, choice);
    bool is_written = true;
    const bool is_output_taken = html_ == "-" || pprof_ == "-" || folded_ == "-" || json_ == "-";
    // The program's own output stays as it is.
    if (is_run) {
        std::fputs(("\n" + text).c_str(), stderr);
    } else if (!is_output_taken) {
        is_written = print(text);
    }
    if (!html_.empty()) is_written = write_to(html_, to_html(profile)) && is_written;
    if (!pprof_.empty()) is_written = write_to(pprof_, to_pprof(profile)) && is_written;
    if (!folded_.empty()) is_written = write_to(folded_, to_folded(profile, choice.value)) && is_written;
    if (!json_.empty()) is_written = write_to(json_, to_json(profile)) && is_written;
    if (is_run) {
        is_written = write_to(folder + "/profile.html", to_html(profile)) && is_written;
        is_written = write_to(folder + "/profile.pb.gz", to_pprof(profile)) && is_written;
        is_written = write_to(folder + "/profile.folded", to_folded(profile, choice.value)) && is_written;
        std::fputs(fmt::format("page, pprof and folded stacks: {0}/profile.html, profile.pb.gz, profile.folded\n"
                               "profile: {1}\n",
                               folder, file)
                       .c_str(),
                   stderr);
    }
    return is_written ? exit_code::ok : exit_code::not_written;
}

int profile_command::attach() const {
    const recorded_profiles recorded =
        record_process(attached_.process, attached_.time(), attached_process::request::save);
    return recorded.shown.empty() ? recorded.code : show(recorded.shown, {});
}

int profile_command::show_difference() const {
    const profile_value of = value(profile_format::occasion::asked);
    symbols names;
    const compared_profile before = load_compared(difference_[0], names), after = load_compared(difference_[1], names);
    for (const compared_profile* const each : {&before, &after}) {
        if (!each->ok()) {
            say(each->error);
            return exit_code::bad_usage;
        }
        if (each->is_pprof && of == &profile_stack::at_peak) {
            say("pprof's format has no peak: --by live or --by allocated compares these files");
            return exit_code::bad_usage;
        }
    }
    const std::string text = difference_text(before.profile, after.profile, of, shown_.stacks, shown_.frames);
    return print(text) ? exit_code::ok : exit_code::not_written;
}

}
