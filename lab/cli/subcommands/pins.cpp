// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/pins.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/arguments/program_file.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/programs/profiled_program.hpp"
#include "cli/terminal.hpp"
#include "observe/cores/core_profile.hpp"
#include "observe/pins/memory_course.hpp"
#include "observe/pins/pinned_memory.hpp"
#include "observe/pins/report/course_chart.hpp"
#include "observe/pins/report/pins_html.hpp"
#include "observe/pins/report/pins_json.hpp"
#include "observe/pins/report/pins_text.hpp"

namespace tenure::lab {

namespace {

const std::string usual_sample = "16K";

/// Whether a word names what is shown, and not a program, which may have the name of a folder.
[[nodiscard]] bool is_saved(const std::string& word) {
    if (word.ends_with(profile_suffix)) return true;
    std::error_code error;
    return std::filesystem::is_directory(word, error) && find_program(word).empty();
}

/// What is wrong with a file, as a sentence; empty when nothing is.
[[nodiscard]] std::string mistake_in(const saved_profile& saved, const std::string& file) {
    if (!saved.ok()) return saved.error;
    if (saved.has_pages()) return {};
    return fmt::format("{} says nothing about pages: save it with TENURE_PROFILE_PAGES=1, "
                       "tn_profile_save_with_pages or HeapProfile.Save, before the profile is stopped",
                       file);
}

/// A file that is shown in whole.
struct shown_file {
    saved_profile saved;
    named_profile profile;
    pinned_memory pinned;
};

/// Reads the files of a process and adds what they say over time. A map is drawn of those that are not shown in whole.
/// Returns   what is wrong with one of them; empty when nothing is.
[[nodiscard]] std::string read_course(const std::vector<std::string>& files, const shown_file& shown, symbols& names,
                                      memory_course& to) {
    const std::vector<std::string> coloured = coloured_stacks_of(shown.profile, shown.pinned);
    for (std::size_t index = 0; index < files.size(); ++index) {
        const saved_profile saved = load_profile(files[index]);
        if (std::string mistake = mistake_in(saved, files[index]); !mistake.empty()) return mistake;
        if (saved.header.process != shown.saved.header.process)
            return fmt::format("{} is of process {}, and the others of process {}: name files of one process",
                               files[index], saved.header.process, shown.saved.header.process);
        if (saved.malloc_file != shown.saved.malloc_file || saved.header.started_ms != shown.saved.header.started_ms)
            return fmt::format("{} is of another run than {}: name files of one run", files[index], files.back());
        memory_moment moment = moment_of(saved, files[index]);
        if (saved.header.saved_ms != shown.saved.header.saved_ms && has_map(index, files.size()))
            moment.map = heap_map_svg(saved, name_profile(saved, names), coloured);
        add(to, std::move(moment));
    }
    return {};
}

}

pins_command::pins_command(CLI::App& app)
    : command_(app.add_subcommand("pins", "Shows where a program's resident memory goes, and who keeps it")) {
    command_
        ->add_option(
            "--heap", heap_,
            "Whose memory is examined: tenure, with which the program then runs, or own, the malloc that the "
            "program has itself (glibc's, jemalloc, ...). Of own less is known: addresses and sizes of blocks, "
            "and not what the malloc keeps free")
        ->check(CLI::IsMember(std::vector<std::string>{"tenure", "own"}))
        ->type_name("NAME")
        ->capture_default_str();
    command_->add_flag("--exact", is_exact_, "Records every block, so that nothing is an estimate; slow");
    command_
        ->add_option("--sample", sample_,
                     "Allocated bytes between two that are recorded, on average, with suffix K, M or G; 16K if it is "
                     "not given: a few small blocks can hold much")
        ->type_name("BYTES");
    command_
        ->add_option("--out", out_,
                     "Folder for the page and the profiles themselves; tenure-pins-PROCESS if it is not given")
        ->type_name("DIR");
    command_->add_option("--every", every_, "Also saves a profile at intervals: 500ms, 60s, 5m, 1h")->type_name("TIME");
    command_->add_flag("--at-peak", at_peak_,
                       "Shows the memory when the blocks in use were most, which is when they hold least beside their "
                       "own size. A file is saved then, each time that they have grown by a tenth");
    shown_.add_options(*command_);
    command_->add_option("--html", html_, "Writes a page with a map of the heap; - means standard output")
        ->type_name("FILE");
    command_->add_option("--json", json_, "Writes all data as JSON; - means standard output")->type_name("FILE");
    attached_.add_options(
        *command_, "Examines a process that runs under the drop-in already. It is recorded for the time of --for: "
                   "what older blocks hold is shown, but not whose they are. Only those who may debug the process "
                   "can do that");
    command_
        ->add_option(
            "--core", core_,
            "Examines a core file, without running anything. Call stacks are known if the program was recording a "
            "heap profile (TENURE_PROFILE=1) when it ended")
        ->type_name("FILE");
    command_
        ->add_option("--program", program_,
                     "With --core: the program's file, if it is not where it was when it ran; it has the names")
        ->type_name("FILE");
    command_
        ->add_option("program", words_,
                     "Profiles of one process that were saved with pages, or their folder; or, after --, program and "
                     "arguments")
        ->type_name("FILE, DIR or -- PROGRAM");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure pins -- ./server --port 80               the table when it has ended; a page with the map of the "
        "heap\n"
        "  tenure pins --every 60s --out DIR -- ./server   a file each minute; the page shows the memory over time\n"
        "  tenure pins DIR                                 shows such a folder again\n"
        "  tenure pins --at-peak -- ./server               where the peak of the memory comes from\n"
        "  tenure pins --heap own -- ./server              its own malloc, as it runs without this command\n"
        "  tenure pins --attach 1234 --for 60s             a server that runs under the drop-in\n"
        "  tenure pins server.1234.0001.heapprofile        shows a file that was saved with TENURE_PROFILE_PAGES=1,\n"
        "                                                  tn_profile_save_with_pages, HeapProfile.Save\n"
        "  tenure pins --core core.1234                    what the process had in memory when it ended\n\n"
        "At the end of a program nearly everything is freed: --at-peak, --every, --attach or a signal "
        "(TENURE_PROFILE_SIGNAL) show it at work.\n\n"
        "Exit codes: the program's own, or 128 plus the signal's number when a signal ended it; 2 invalid command "
        "line, a file that is no profile or no core file or has no pages, or the library was not found; 3 a file could "
        "not be written; "
        "70 the command itself failed; 126 the program cannot be examined; 127 the program was not found.");
}

std::string pins_command::mistake_in_options() const {
    const bool is_run = !words_.empty() && !is_saved(words_.front());
    if (attached_.process != 0 && !words_.empty())
        return "--attach examines a process that runs: leave out programs and files";
    if (const std::string mistake = attached_.mistake_in(*command_); !mistake.empty()) return mistake;
    if (command_->count("--core") > 0 && (attached_.process != 0 || !words_.empty()))
        return "--core examines a core file: leave out --attach, programs and other files";
    if (!program_.empty() && core_.empty()) return "--program belongs to --core FILE";
    if (words_.empty() && attached_.process == 0 && core_.empty())
        return "nothing was given to show: tenure pins -- PROGRAM ..., tenure pins FILE.heapprofile, or tenure pins "
               "--core FILE";
    for (const char* const of_a_run : {"--sample", "--every", "--out", "--exact", "--at-peak", "--heap"}) {
        if (!is_run && command_->count(of_a_run) > 0)
            return fmt::format("{} applies to a run: tenure pins {} … -- PROGRAM", of_a_run, of_a_run);
    }
    if (is_exact_ && !sample_.empty()) return "--exact and --sample contradict each other";
    if (html_ == "-" && json_ == "-") return "standard output takes one of --html and --json";
    const auto is_folder = [](const std::string& word) { return !word.ends_with(profile_suffix); };
    if (words_.size() > 1 && !is_run && std::any_of(words_.begin(), words_.end(), is_folder))
        return "name one folder, or files of one process that end with .heapprofile";
    return mistake_in(profile_request{sample_, every_, {}});
}

int pins_command::run() const {
    if (const std::string mistake = mistake_in_options(); !mistake.empty()) {
        say(mistake);
        return exit_code::bad_usage;
    }
    for (const std::string* const each : {&html_, &json_}) {
        if (const std::string reason = why_not_writable(*each); !reason.empty()) {
            say(reason);
            return exit_code::not_written;
        }
    }
    if (attached_.process != 0) {
        const recorded_profiles recorded =
            record_process(attached_.process, attached_.time(), attached_process::request::save_with_pages);
        return recorded.shown.empty() ? recorded.code : show(recorded.shown, {}, {});
    }
    if (!core_.empty()) return show(core_, {}, {});
    return is_saved(words_.front()) ? show_files() : run_and_show();
}

int pins_command::show_files() const {
    if (words_.front().ends_with(profile_suffix)) return show(words_.back(), words_, {});
    const recorded_profiles found = profiles_in_folder(words_.front());
    if (found.shown.empty()) {
        say(fmt::format("{} contains no heap profile", words_.front()));
        return exit_code::bad_usage;
    }
    const int code = show(found.shown, found.series, {});
    name_others(found.others, "tenure pins", words_.front());
    return code;
}

int pins_command::run_and_show() const {
    const std::string folder = out_.empty() ? fmt::format("tenure-pins-{}", ::getpid()) : out_;
    profile_request request{sample_.empty() ? usual_sample : sample_, every_, folder, at_peak_, true, heap_ == "own"};
    if (is_exact_) request.sample = "1";
    const recorded_profiles recorded = record_program(words_, request);
    if (recorded.shown.empty()) return recorded.code;
    const int shown_code = show(recorded.shown, recorded.series, folder);
    name_others(recorded.others, "tenure pins", folder);
    return recorded.code != 0 ? recorded.code : shown_code;
}

saved_profile pins_command::loaded(const std::string& file) const {
    return core_.empty() ? load_profile(file) : load_core(file, program_);
}

/// Shows one file, and the `series` that it is of over time. Writes what was asked for, and the page into `folder` if
/// there is one.
int pins_command::show(const std::string& file, const std::vector<std::string>& series,
                       const std::string& folder) const {
    shown_file shown{loaded(file), {}, {}};
    std::string mistake = mistake_in(shown.saved, file);
    symbols names;
    memory_course course;
    if (mistake.empty()) {
        shown.profile = name_profile(shown.saved, names);
        shown.pinned = find_pinned(shown.saved, shown.profile);
        if (series.size() > 1) mistake = read_course(series, shown, names, course);
    }
    if (!mistake.empty()) {
        say(mistake);
        return exit_code::bad_usage;
    }
    const auto& [saved, profile, pinned] = shown;
    if (saved.memory.empty())
        say("the process could not read /proc/self/smaps: only the heap's own part of its memory is known");
    for (const std::string& each : profile.changed_files) {
        if (saved.from_core.is_set)
            say(fmt::format("{} is another build than the one that ran: its functions have no names", each));
    }
    const pins_choice choice{shown_.stacks, shown_.frames, output_style().width};
    std::string text = to_text(profile, pinned, choice);
    if (course.is_shown()) text += course_text(course);
    const bool is_run = !folder.empty();
    bool is_written = true;
    // The program's own output stays as it is.
    if (is_run) {
        std::fputs(("\n" + text).c_str(), stderr);
    } else if (html_ != "-" && json_ != "-") {
        is_written = print(text);
    }
    is_written = write_to(html_, to_html(saved, profile, pinned, course)) && is_written;
    is_written = write_to(json_, to_json(profile, pinned, course)) && is_written;
    if (is_run) {
        is_written = write_to(folder + "/pins.html", to_html(saved, profile, pinned, course)) && is_written;
        std::fputs(fmt::format("page with the map of the heap: {}/pins.html\nprofile: {}\n", folder, file).c_str(),
                   stderr);
    }
    return is_written ? exit_code::ok : exit_code::not_written;
}

}
