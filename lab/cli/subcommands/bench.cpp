// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Options of `tenure bench`. All input is checked first; then the bench measures and writes.

#include "cli/subcommands/bench.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <string_view>

#include "bench/experiments/registry.hpp"
#include "bench/harness/machine/machine.hpp"
#include "bench/harness/schedule.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "cli/arguments/part_choice.hpp"
#include "cli/arguments/row_choice.hpp"
#include "cli/arguments/whole_number.hpp"
#include "cli/command_line.hpp"
#include "cli/subcommands/bench_compare.hpp"
#include "cli/terminal.hpp"
#include "report/json/json.hpp"
#include "report/numbers.hpp"
#include "report/table/text.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

std::uint64_t fresh_seed() {
    std::random_device device;
    return device() % 1'000'000'000 + 1; // short enough to retype
}

/// Why files cannot be written to the directory; empty when they can. Creates the directory if necessary.
std::string refuse_directory(const std::string& directory) {
    const std::filesystem::path probe = std::filesystem::path{directory} / ".tenure-bench";
    std::error_code error, ignored;
    std::filesystem::create_directories(directory, error);
    if (error) return fmt::format("--out: cannot create the folder {}: {}", directory, error.message());
    const std::string refused = write_file(probe, "");
    std::filesystem::remove(probe, ignored);
    if (refused.empty()) return {};
    const std::string reason = refused.substr(std::min(refused.rfind(": ") + 2, refused.size()));
    return fmt::format("--out: cannot write files in the folder {}: {}", directory, reason);
}

/// Workers use the built-in settings, so that shell settings do not make two results differ.
void say_ignored_settings() {
    std::vector<std::string_view> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.starts_with("TENURE_")) names.push_back(text.substr(0, text.find('=')));
    }
    if (names.empty()) return;
    say(fmt::format("{} in the environment {} no effect: the bench measures with the built-in settings",
                    fmt::join(names, ", "), names.size() == 1 ? "has" : "have"));
}

std::string whole_command(int argc, char** argv) {
    std::string text = "tenure";
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const bool plain = !word.empty() && word.find_first_of(" \t\"'\\$&|;<>()*?") == std::string_view::npos;
        text += plain ? fmt::format(" {}", word) : fmt::format(" '{}'", word);
    }
    return text;
}

/// Why no row can be measured (the first row's reason); empty when at least one can.
std::string why_nobody_can(const std::vector<measured_row>& rows) {
    const bool nobody =
        std::all_of(rows.begin(), rows.end(), [](const measured_row& row) { return !row.missing.empty(); });
    return nobody ? rows.front().missing : std::string{};
}

bool some_row_failed(const result& found) {
    for (const experiment_result& each : found.experiments) {
        for (const contestant_result& row : each.contestants) {
            if (row.state == outcome::failed) return true;
        }
    }
    return false;
}

}

bench_command::bench_command(CLI::App& app)
    : command_(app.add_subcommand("bench", "Runs experiments and writes tables, CSV, JSON and an HTML report")) {
    add_options();
    for (const experiment& each : experiments()) add_experiment(each);
    command_->require_subcommand(0, experiments().size());
    command_->footer(fmt::format(
        "\n"
        "Examples:\n"
        "  tenure bench --out results                  all experiments; writes results/report.html and data files\n"
        "  tenure bench lifetimes --count 5000         one experiment with one of its own options\n"
        "  tenure bench lifetimes pools --rounds 3     several experiments\n"
        "  tenure bench pools --parts \"all, 64 B\"     one part; `tenure list` shows the names\n"
        "  tenure bench --against ./libmine.so         include your own malloc\n"
        "  tenure bench --compare old new              compare two directories written by --out\n\n"
        "Options after an experiment's name belong to that experiment.\n\n"
        "{}",
        exit_codes_help));
}

void bench_command::add_options() {
    command_
        ->add_option(
            "--against", request_.against,
            "Peers by name: measures only these beside ours and the references. Files are measured in addition: "
            "malloc libraries, or for `offsets` libraries with an offset allocator. Separate them with commas")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("PEER|./lib.so,...");
    command_
        ->add_option("--only", request_.only,
                     "Contestants to measure, by name. The baseline and the peers in --against are always included")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("CONTESTANT,...");
    command_
        ->add_option("--parts", request_.parts,
                     "Parts to run, by name or by a piece of a name: \"drop\" selects all parts with \"drop\" in their "
                     "names. Repeat --parts to select several parts (part names contain commas)")
        ->allow_extra_args(false)
        ->type_name("PART");
    command_->add_option("--rounds", request_.rounds, "Paired rounds; fewer than 7 say little about the spread")
        ->transform(whole_number(1, 10'000))
        ->type_name("N")
        ->capture_default_str();
    command_
        ->add_option("--seed", request_.seed,
                     "Seed for the order of processes and of frees; 0 picks a new one "
                     "for each run")
        ->transform(whole_number(0, std::numeric_limits<std::int64_t>::max()))
        ->type_name("N")
        ->capture_default_str();
    command_
        ->add_option("--timeout", request_.timeout_s,
                     "Timeout for one process in seconds; 0 means 60, or 900 "
                     "with --full")
        ->transform(whole_number(0, 1'000'000))
        ->type_name("S")
        ->capture_default_str();
    command_->add_flag("--full", request_.full, "Uses the full sizes of the articles");
    command_
        ->add_option("--out", request_.out,
                     "Writes results.json, results.csv, report.html, a chart of each experiment (EXPERIMENT.svg) "
                     "and the articles' files to this directory")
        ->type_name("DIR");
    command_->add_flag("--json", request_.json, "Prints the result as JSON instead of tables");
    command_->add_option("--compare", request_.compare, "Compares two earlier results; measures nothing")
        ->expected(2)
        ->type_name("OLD NEW");
}

void bench_command::add_experiment(const experiment& described) {
    auto added = std::make_unique<experiment_command>();
    added->command = command_->add_subcommand(std::string{described.name}, std::string{described.question});
    added->command->fallthrough();
    for (const option_spec& option : described.options) {
        const std::string name{option.name};
        auto* const given = &added->given;
        const auto keep = [given, name](const std::int64_t& value) { (*given)[name] = value; };
        std::string help = fmt::format("{} [{}", option.help, option.value);
        help += option.full_value == option.value ? "]" : fmt::format(", with --full {}]", option.full_value);
        added->command->add_option_function<std::int64_t>("--" + name, keep, help)
            ->transform(whole_number(option.lowest, option.highest))
            ->type_name("N");
    }
    if (described.input != nullptr) {
        added->command->add_option("--input", added->input, std::string{described.input->help})
            ->check(CLI::ExistingFile)
            ->type_name("FILE");
    }
    added->command->footer(fmt::format("\nExample:\n  {}\n\nAll options of `tenure bench` can be used here too.\n{}",
                                       described.example, exit_codes_help));
    experiments_.push_back(std::move(added));
}

parameters bench_command::options_of(std::size_t index) const {
    parameters made(experiments()[index].options, request_.full);
    for (const auto& [name, value] : experiments_[index]->given) made.set(name, value);
    made.set_input(experiments_[index]->descriptor, experiments_[index]->input);
    return made;
}

std::vector<std::size_t> bench_command::chosen_experiments() const {
    std::vector<std::size_t> all, named;
    for (std::size_t i = 0; i < experiments_.size(); ++i) {
        all.push_back(i);
        if (experiments_[i]->command->parsed()) named.push_back(i);
    }
    return named.empty() ? all : named;
}

std::string bench_command::refuse_beside_compare() const {
    std::vector<std::string> useless;
    for (const auto& each : experiments_) {
        if (each->command->parsed()) useless.push_back(each->command->get_name());
    }
    for (const CLI::Option* each : command_->get_options()) {
        const std::string name = each->get_name();
        if (each->count() != 0 && name != "--compare" && name != "--json") useless.push_back(name);
    }
    if (useless.empty()) return {};
    return fmt::format("--compare only reads two results, so {} would have no effect; only --json can be combined "
                       "with it",
                       fmt::join(useless, ", "));
}

std::string bench_command::refuse_values() const {
    if (request_.out.empty() && command_->get_option("--out")->count() != 0) return "--out needs the name of a folder";
    for (std::size_t index : chosen_experiments()) {
        for (const option_spec& option : experiments()[index].options) {
            const auto value = static_cast<std::uint64_t>(options_of(index)[option.name]);
            if (option.shape == option_shape::power_of_two && !std::has_single_bit(value)) {
                return fmt::format("--{} {} is not a power of two", option.name, value);
            }
        }
    }
    return {};
}

/// Rejects files that are too large for a model before reading them.
constexpr std::uintmax_t max_input_bytes = std::uintmax_t{1} << 30U;

/// Reads the files given to experiments into memory that workers can read.
/// Returns   why a file cannot be used; empty when all can.
std::string bench_command::read_inputs() {
    for (std::size_t index : chosen_experiments()) {
        experiment_command& each = *experiments_[index];
        if (each.input.empty()) continue;
        std::error_code error;
        if (!std::filesystem::is_regular_file(each.input, error)) // a pipe would block, a device never ends
            return fmt::format("--input {} is not a regular file", each.input);
        if (const std::uintmax_t bytes = std::filesystem::file_size(each.input, error);
            error || bytes > max_input_bytes)
            return fmt::format("--input {} is {} MiB; the maximum is {} MiB", each.input, error ? 0 : bytes >> 20U,
                               max_input_bytes >> 20U);
        const int made = ::memfd_create("tenure-input", MFD_CLOEXEC);
        // Workers inherit this descriptor. Its high number keeps their own descriptors from replacing it.
        each.descriptor = made < 0 ? -1 : ::fcntl(made, F_DUPFD, 100);
        if (each.descriptor < 0) return fmt::format("--input {}: not enough memory to read it", each.input);
        const std::string refused = experiments()[index].input->read(each.input, each.descriptor);
        if (!refused.empty()) return fmt::format("--input {}: {}", each.input, refused);
    }
    return {};
}

/// Leaves out the parts that need a file when no file was given.
/// Returns   why no part is left; empty when a part is left or none was selected.
std::string bench_command::take_parts_of_input(std::size_t index, std::uint64_t& parts) const {
    const experiment& described = experiments()[index];
    if (described.input == nullptr || experiments_[index]->descriptor >= 0 || parts == run_all_parts) return {};
    if ((parts & described.input->parts) == 0) return {};
    parts &= ~described.input->parts;
    if (parts != 0) return {};
    const auto first = static_cast<std::size_t>(std::countr_zero(described.input->parts));
    return fmt::format("--parts: \"{}\" of {} needs --input FILE", described.parts[first].name, described.name);
}

/// Why the selected parts cannot run on this machine; empty when they can.
std::string bench_command::refuse_parts(std::size_t index, std::uint64_t parts) const {
    const experiment& described = experiments()[index];
    const parameters options = options_of(index);
    if (described.refuse == nullptr) return {};
    return described.refuse(options, parts == run_all_parts ? described.default_parts(options) : parts);
}

int bench_command::run_chosen(result& found) {
    run_settings settings;
    settings.rounds = request_.rounds;
    settings.seed = request_.seed != 0 ? request_.seed : fresh_seed();
    settings.timeout = std::chrono::seconds{request_.timeout_s != 0 ? request_.timeout_s : request_.full ? 900 : 60};
    row_choice who(request_.against, request_.only);
    part_choice what(request_.parts);
    std::vector<std::uint64_t> parts;
    std::vector<std::vector<measured_row>> rows;
    const std::vector<std::size_t> chosen = chosen_experiments();
    std::string without_input;
    for (std::size_t index : chosen) {
        parts.push_back(what.of(experiments()[index]));
        if (without_input.empty()) without_input = take_parts_of_input(index, parts.back());
        rows.push_back(who.of(experiments()[index], parts.back()));
    }
    for (const std::string& refused : {what.refusal(), who.refusal(), without_input}) {
        if (refused.empty()) continue;
        say(refused);
        return exit_code::bad_usage;
    }
    std::vector<std::string> refusals;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        refusals.push_back(rows[i].empty() ? std::string{} : refuse_parts(chosen[i], parts[i]));
        if (refusals[i].empty() || !experiments_[chosen[i]]->command->parsed()) continue;
        say(fmt::format("{}: {}", experiments()[chosen[i]].name, refusals[i]));
        return exit_code::bad_usage;
    }
    if (request_.rounds < 7) {
        say(fmt::format("{} {} little about the spread", count_text(request_.rounds, "round"),
                        request_.rounds == 1 ? "says" : "say"));
    }
    say_ignored_settings();
    say(fmt::format("seed {}", settings.seed));
    for (std::size_t i = 0; i < chosen.size() && !interrupted(); ++i) {
        if (rows[i].empty() || parts[i] == 0) continue; // --only or --parts matched nothing in this experiment
        if (const std::string reason = refusals[i].empty() ? why_nobody_can(rows[i]) : refusals[i]; !reason.empty()) {
            say(fmt::format("{} is left out: {}", experiments()[chosen[i]].name, reason));
            named_are_there_ &= !experiments_[chosen[i]]->command->parsed();
            continue;
        }
        settings.parts = parts[i];
        const experiment& described = experiments()[chosen[i]];
        found.experiments.push_back(run_experiment(described, options_of(chosen[i]), rows[i], settings));
        if (!request_.json) printed_ &= print(text_tables(found.experiments.back(), found.machine, output_style()));
    }
    return exit_code::ok;
}

int bench_command::run(int argc, char** argv) {
    const bool comparing = !request_.compare.empty();
    if (const std::string refused = comparing ? refuse_beside_compare() : refuse_values(); !refused.empty()) {
        say(refused);
        return exit_code::bad_usage;
    }
    if (comparing) return compare_results(request_.compare[0], request_.compare[1], request_.json);
    std::string refused = request_.out.empty() ? "" : refuse_directory(request_.out);
    if (!refused.empty()) {
        say(refused);
        return exit_code::not_written;
    }
    result found;
    found.tool_version = library_version();
    found.started_at = timestamp();
    found.command = whole_command(argc, argv);
    found.machine = describe_machine();
    if (refused = read_inputs(); !refused.empty()) {
        say(refused);
        return exit_code::bad_usage;
    }
    const interrupt_guard guard;
    if (const int code = run_chosen(found); code != exit_code::ok) return code;
    found.complete = !interrupted();
    printed_ &= print(request_.json ? to_json(found) + "\n" : text_conclusions(found, output_style()));
    if (!found.complete) say("interrupted: the result contains the finished measurements and is marked as interrupted");
    if (!request_.out.empty()) refused = write_all(found, request_.out);
    if (refused.empty() && !request_.out.empty()) say(fmt::format("written to {}/report.html", request_.out));
    if (!refused.empty()) say(refused);
    if (!found.complete) return exit_code::interrupted;
    if (!refused.empty() || !printed_) return exit_code::not_written;
    return !named_are_there_ || some_row_failed(found) ? exit_code::row_failed : exit_code::ok;
}

}
