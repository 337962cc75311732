// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <span>
#include <utility>

#include "bench/harness/machine/machine.hpp"
#include "bench/harness/schedule.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "cli/arguments/row_choice.hpp"
#include "cli/command_line.hpp"
#include "cli/last_resort.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/plan/neighbours.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/report/advice_words.hpp"
#include "observe/replay/report/memory_chart.hpp"
#include "observe/replay/report/replay_html.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "observe/replay/run/replay_limits.hpp"
#include "report/json/json.hpp"
#include "report/numbers.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

namespace {

std::string command_of(int argc, char** argv) {
    std::string words;
    for (const char* const word : std::span<char*>(argv, static_cast<std::size_t>(argc)))
        words += fmt::format("{}{}", words.empty() ? "" : " ", word);
    return words;
}

std::string wait_in_words(std::uint32_t seconds) {
    return fmt::format("After the last free, one process of each malloc waits {} to show what memory it returns by "
                       "itself; --wait 0 leaves this out\n",
                       count_text(seconds, "second"));
}

/// Every row that is shown has ended with the contents that its own processes have checked: a number that says so is
/// for `tenure advise`.
void drop_digests(experiment_result& found) {
    for (contestant_result& each : found.contestants)
        std::erase_if(each.metrics, [](const metric& one) { return one.name == replay_digest; });
}

series list_of(std::string_view name, std::string_view unit, const replay_plan& plan,
               std::uint64_t plan_place::*member) {
    series made{std::string(name), {}, std::string(unit), {}};
    for (const plan_place& each : plan.places) made.values.push_back(static_cast<std::int64_t>(each.*member));
    return made;
}

/// The places of the trace, and how much memory a live byte took at each of them.
void add_places(experiment_result& found, const replay_plan& plan) {
    found.lists = {list_of(course_events, "events", plan, &plan_place::event),
                   list_of(course_times, "ns", plan, &plan_place::time_ns),
                   list_of(course_live, "bytes", plan, &plan_place::live_bytes)};
    const memory_over_trace memory = memory_of(found);
    for (const memory_line& line : memory.lines) {
        series made{std::string(course_fragmentation), {}, "%", {}};
        for (std::size_t place = 0; place < line.mib.size(); ++place) {
            const double live = memory.live_mib[place];
            made.values.push_back(live > 0 ? std::llround(100 * line.mib[place] / live) : no_number);
        }
        const auto who = std::find_if(found.contestants.begin(), found.contestants.end(),
                                      [&](const contestant_result& each) { return &each == line.who; });
        who->lists.push_back(std::move(made));
    }
}

/// Prints what is known before the replays. That nobody reads it does not end the process, which may have files to
/// write. Returns   whether it was written.
bool print_facts(const std::string& facts) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const bool is_written = print(facts + "\n");
    static_cast<void>(std::signal(SIGPIPE, before));
    return is_written;
}

bool has_failed(const experiment_result& found) {
    return std::any_of(found.contestants.begin(), found.contestants.end(),
                       [](const contestant_result& each) { return each.state == outcome::failed; });
}

}

replay_command::replay_command(CLI::App& app)
    : command_(app.add_subcommand("replay", "Makes the recorded calls of a program on each malloc, timed")) {
    command_
        ->add_option("--against", against_,
                     "Mallocs to replay on beside glibc's and Tenure's: jemalloc, mimalloc, tcmalloc, \"TBB malloc\" "
                     "or a file with a malloc; all that are installed if it is not given")
        ->delimiter(',')
        ->type_name("NAME,…");
    options_.add_to(*command_, 7);
    command_->add_option("--json", json_, "Writes the figures of all rounds as JSON; - means standard output")
        ->type_name("FILE");
    command_
        ->add_option("--html", html_,
                     "Writes a page with resident memory and fragmentation over the trace, and all tables; - means "
                     "standard output")
        ->type_name("FILE");
    command_
        ->add_option("--wait", wait_s_,
                     "Seconds for which memory is read after the last free, once for each malloc: it may return memory "
                     "meanwhile. 0 leaves this out")
        ->check(CLI::Range(0U, 600U))
        ->type_name("S")
        ->capture_default_str();
    command_->add_option("trace", file_, "A file that `tenure record` has written")->type_name("FILE");
    command_->footer("\n"
                     "Examples:\n"
                     "  tenure record --out parse.trace -- ./parse input     records a program\n"
                     "  tenure replay parse.trace                            replays it on all mallocs here\n"
                     "  tenure replay parse.trace --against mimalloc,jemalloc --rounds 21\n"
                     "  tenure replay parse.trace --html replay.html         also memory over time, as a page\n"
                     "  tenure replay parse.trace --touch whole              as if the program wrote every byte\n\n"
                     "A replay makes the program's calls and nothing else. It knows nothing of the caches that the "
                     "program's own work fills, of waiting, and of input and output, nor of which blocks the program "
                     "touches. The order of the mallocs can be another in the program.\n\n"
                     "Exit codes: 0 ok; 1 a row failed; 2 invalid command line, or a file that is no trace or is "
                     "empty; 3 a file or standard output could not be written; 70 the command itself failed; 130 "
                     "interrupted.");
}

std::string replay_command::facts_of(const trace& recorded, const replay_plan& plan) const {
    std::string text =
        fmt::format("{}: {} calls, {} blocks, {} allocated, at most {} at a time, {}\n", file_, plan.calls, plan.blocks,
                    bytes_in_words(static_cast<double>(plan.allocated_bytes)),
                    bytes_in_words(static_cast<double>(plan.peak_bytes)), count_in_words(recorded.threads, "thread"));
    if (plan.left != 0)
        text += fmt::format("{} blocks ({}) were in use at the program's end; replay frees them after the time is "
                            "taken\n",
                            plan.left, bytes_in_words(static_cast<double>(plan.left_bytes)));
    if (recorded.unknown_frees != 0)
        text += fmt::format("{} frees of blocks from before the recording are left out\n", recorded.unknown_frees);
    return text;
}

int replay_command::run(int argc, char** argv) const {
    return run_and_tell([&] { return replay(argc, argv); }, large_trace_hint);
}

int replay_command::replay(int argc, char** argv) const {
    if (file_.empty()) {
        say("nothing was given to replay: tenure replay FILE, with a file of tenure record -o FILE -- PROGRAM ...");
        return exit_code::bad_usage;
    }
    if (json_ == "-" && html_ == "-") {
        say("standard output takes one of --html and --json");
        return exit_code::bad_usage;
    }
    for (const std::string* const file : {&json_, &html_}) {
        if (const std::string reason = why_not_writable(*file, file_); !reason.empty()) {
            say(reason);
            return exit_code::not_written;
        }
    }
    const trace recorded = read_for_replay(file_);
    if (!recorded.ok()) return exit_code::bad_usage;
    replay_plan folded = make_plan(recorded);
    if (folded.ok()) folded.neighbours = neighbours_of(recorded, folded);
    if (const std::string refused = folded.ok() ? why_too_large(folded) : folded.error; !refused.empty()) {
        say(fmt::format("{}: {}", file_, refused));
        return exit_code::bad_usage;
    }
    const replay_plan threads = make_plan(recorded, plan_threads::recorded);
    const experiment& described = replay_experiments()[0];
    std::vector<std::string> against = against_;
    std::erase_if(against, [](const std::string& name) { return name == "glibc"; }); // takes part in any case
    row_choice choice(against.empty() && !against_.empty() ? std::vector<std::string>{std::string(own_malloc_name)}
                                                           : against,
                      {}, peer_kind::malloc);
    const replay_settings settings = options_.settings();
    run_settings how;
    how.rounds = settings.rounds;
    how.seed = settings.seed;
    how.timeout = settings.timeout + std::chrono::seconds{wait_s_};
    how.parts = 1U << part_time | 1U << part_calls | 1U << part_memory | 1U << part_contents | 1U << part_distances;
    if (wait_s_ != 0) how.parts |= 1U << part_later;
    const std::string without_threads = why_no_threads(threads);
    if (recorded.threads > 1 && without_threads.empty()) how.parts |= 1U << part_threads;
    const std::vector<measured_row> rows = choice.of(described, how.parts);
    if (const std::string refused = choice.refusal(); !refused.empty()) {
        say(refused);
        return exit_code::bad_usage;
    }
    plan_file file;
    std::vector<const replay_plan*> plans{&folded};
    if (without_threads.empty()) plans.push_back(&threads);
    if (const std::string refused = file.write(plans); !refused.empty()) {
        say(refused);
        return exit_code::failed;
    }
    parameters options(described.options);
    options.set("touch", static_cast<std::int64_t>(settings.touch));
    options.set("repeat", repeats_for(folded.calls, settings));
    options.set("wait", wait_s_);
    options.set_input(file.descriptor(), file_);
    result found;
    found.tool_version = library_version();
    found.started_at = timestamp();
    found.command = command_of(argc, argv);
    found.machine = describe_machine();
    const interrupt_guard guard;
    std::string facts = facts_of(recorded, folded);
    if (!without_threads.empty())
        facts += fmt::format("The part with the program's threads is left out: {}.\n", without_threads);
    if (wait_s_ != 0) facts += wait_in_words(wait_s_);
    const bool has_output = json_ == "-" || html_ == "-"; // that is for a program
    const bool has_files = !has_output && !(json_.empty() && html_.empty());
    if (!has_output && !print_facts(facts) && !has_files) return exit_code::not_written;
    found.experiments.push_back(run_experiment(described, options, rows, how));
    found.complete = !interrupted();
    drop_digests(found.experiments[0]);
    note_timer_step(found.experiments[0]);
    add_places(found.experiments[0], folded);
    for (parameter& each : found.experiments[0].parameters)
        if (each.name == "--touch") each.value = name_of(settings.touch);
    // Files first: nobody may read standard output any more, and then writing to it ends the process.
    bool is_written = true;
    if (!json_.empty()) is_written = write_to(json_, to_json(found) + "\n");
    if (!html_.empty()) is_written = write_to(html_, replay_page(found, file_, facts)) && is_written;
    if (!has_output) is_written = print(text_tables(found.experiments[0], found.machine, output_style())) && is_written;
    if (!found.complete) return exit_code::interrupted;
    if (!is_written) return exit_code::not_written;
    return has_failed(found.experiments[0]) ? exit_code::row_failed : exit_code::ok;
}

}
