// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/programs/profiled_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>

#include <tenure/base/options.hpp>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/arguments/whole_number.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/terminal.hpp"
#include "observe/profile/attached.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view peak_suffix = ".peak.heapprofile";

/// The files of one run, those of one process together, in the order of saving.
[[nodiscard]] std::vector<std::string> profiles_in(const std::string& folder) {
    std::vector<std::string> found;
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
        if (each.path().string().ends_with(profile_suffix)) found.push_back(each.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// The number of the process, from NAME.PROCESS.NUMBER.heapprofile, where NUMBER may be `exit` or `peak`.
[[nodiscard]] std::string process_of(const std::string& file) {
    const std::string name = fs::path(file).filename().string();
    const std::size_t number = name.rfind('.', name.size() - profile_suffix.size() - 1);
    if (number == std::string::npos || number == 0) return {};
    const std::size_t process = name.rfind('.', number - 1);
    return process == std::string::npos ? std::string{} : name.substr(process + 1, number - process - 1);
}

/// Why no run can save profiles in a folder; creates it otherwise.
[[nodiscard]] std::string prepare_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return fmt::format("the folder {} cannot be created: {}", folder, error.message());
    if (!profiles_in(folder).empty())
        return fmt::format("{} contains profiles already: name another folder with --out, or remove them", folder);
    return {};
}

/// It is no malloc: it calls the program's own.
[[nodiscard]] found_malloc recorder_of_blocks() {
    constexpr std::string_view file = "libtenure_blocks.so";
    found_malloc found;
    found.library = find_own_library(file);
    found.found = !found.library.empty();
    found.reason = fmt::format("{} is not beside the command", file);
    return found;
}

}

std::optional<std::uint64_t> duration_ms(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    constexpr std::uint64_t day_ms = 86'400'000;
    std::uint64_t factor = 0;
    if (unit == "ms") factor = 1;
    if (unit == "s") factor = 1000;
    if (unit == "m" || unit == "min") factor = 60'000;
    if (unit == "h") factor = 3'600'000;
    if (factor == 0 || number == 0 || number > day_ms / factor) return std::nullopt;
    return number * factor;
}

void shown_stacks::add_options(CLI::App& command) {
    constexpr std::int64_t most = 1'000'000;
    command.add_option("--stacks", stacks, "Number of call stacks shown")
        ->transform(whole_number(0, most))
        ->type_name("N")
        ->capture_default_str();
    command.add_option("--frames", frames, "Number of functions shown for each")
        ->transform(whole_number(0, most))
        ->type_name("N")
        ->capture_default_str();
}

void attached_choice::add_options(CLI::App& command, const std::string& what_it_does) {
    constexpr std::int64_t last_process = 100'000'000; // past Linux's own
    command.add_option("--attach", process, what_it_does)->transform(whole_number(1, last_process))->type_name("PID");
    command.add_option("--for", during, "How long --attach records: 500ms, 30s, 5m")
        ->type_name("TIME")
        ->capture_default_str();
}

std::string attached_choice::mistake_in(const CLI::App& command) const {
    if (process == 0 && command.count("--for") > 0) return "--for is the time of --attach PID";
    if (duration_ms(during).has_value()) return {};
    return fmt::format("--for {} is not valid: a time up to a day, as in 500ms, 30s, 5m", during);
}

std::chrono::milliseconds attached_choice::time() const {
    return std::chrono::milliseconds(duration_ms(during).value_or(0));
}

std::string mistake_in(const profile_request& request) {
    if (!request.every.empty() && !duration_ms(request.every).has_value())
        return fmt::format("--every {} is not valid: a time up to a day, as in 500ms, 60s, 5m, 1h", request.every);
    const option_info& info = option_table()[static_cast<std::size_t>(option::profile_sample_bytes)];
    std::uint64_t number = 0;
    if (!request.sample.empty() && !parse_option(info, request.sample, number))
        return fmt::format("--sample {} is not valid: bytes from 1 to 1G, as in 64K", request.sample);
    return {};
}

recorded_profiles record_program(const std::vector<std::string>& words, const profile_request& request) {
    recorded_profiles recorded;
    const program_choice chosen = choose_program(words.front(), "profiled");
    if (!chosen.refusal.empty()) {
        say(chosen.refusal);
        recorded.code = chosen.code;
        return recorded;
    }
    const found_malloc library = request.keeps_malloc ? recorder_of_blocks() : find_own_malloc("libtenure_malloc.so");
    if (!library.found) {
        say(library.reason);
        recorded.code = exit_code::bad_usage;
        return recorded;
    }
    const bool is_new = !fs::exists(request.folder);
    if (const std::string refusal = prepare_folder(request.folder); !refusal.empty()) {
        say(refusal);
        recorded.code = exit_code::not_written;
        return recorded;
    }
    const std::string whole = fs::absolute(request.folder).string();
    const ended_program ended = run_program(chosen.path, words, [&] {
        // A program that keeps its malloc may use Tenure's heap beside it, whose files would have the same names.
        request.keeps_malloc ? ::unsetenv("TENURE_PROFILE") : ::setenv("TENURE_PROFILE", "1", 1);
        ::setenv("TENURE_PROFILE_DIR", whole.c_str(), 1);
        if (request.at_peak) ::setenv("TENURE_PROFILE_AT_PEAK", "1", 1);
        if (request.has_pages) ::setenv("TENURE_PROFILE_PAGES", "1", 1);
        if (!request.sample.empty()) ::setenv("TENURE_PROFILE_SAMPLE", request.sample.c_str(), 1);
        if (!request.every.empty())
            ::setenv("TENURE_PROFILE_EVERY_MS", std::to_string(duration_ms(request.every).value_or(0)).c_str(), 1);
        preload_first(preloadable(library.library, whole));
    });
    recorded.code = ended.process <= 0 ? cannot_run : ended.code;
    if (ended.process <= 0) return recorded;
    std::string peak;
    for (const std::string& each : profiles_in(request.folder)) {
        if (process_of(each) == std::to_string(ended.process)) {
            (each.ends_with(peak_suffix) ? peak : recorded.shown) = each; // "exit" comes after the numbers
        } else {
            recorded.others.push_back(each);
        }
    }
    if (!peak.empty() && (request.at_peak || recorded.shown.empty())) recorded.shown = peak;
    if (peak.empty() && request.at_peak && !recorded.shown.empty())
        say("no file was saved at the peak, because the program held less than 16 times the sample: this is its end");
    if (recorded.shown.empty() && !recorded.others.empty()) recorded.shown = recorded.others.front();
    if (!recorded.shown.empty()) return recorded;
    say("the program saved no profile: it was killed, ended without its exit handlers, or removed LD_PRELOAD. "
        "--every 10s saves profiles while it runs");
    if (is_new) fs::remove_all(request.folder);
    if (recorded.code == exit_code::ok) recorded.code = cannot_run;
    return recorded;
}

recorded_profiles record_process(int process_id, std::chrono::milliseconds during, attached_process::request last) {
    constexpr std::chrono::milliseconds patience{10'000};
    recorded_profiles recorded;
    recorded.code = cannot_run;
    attached_process process(process_id);
    if (!process.refusal().empty()) {
        say(process.refusal());
        return recorded;
    }
    using request = attached_process::request;
    const std::vector<std::string> before = process.files();
    for (const bool is_begin : {true, false}) {
        if (!is_begin) std::this_thread::sleep_for(during);
        if (!process.ask(is_begin ? request::save : last)) {
            say(process.refusal());
            return recorded;
        }
        if (process.is_served_within(patience)) continue;
        say(fmt::format(
            "process {} has ended, or has made no slow call of malloc in 10 s: it allocates next to nothing",
            process_id));
        return recorded;
    }
    const bool is_ended = process.ask(request::end) && process.is_served_within(patience);
    if (!is_ended) say(fmt::format("process {} goes on recording: it has made no slow call since", process_id));
    // A request is taken before it is carried out.
    std::vector<std::string> fresh;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (fresh.size() < 2 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const std::vector<std::string> after = process.files();
        fresh.clear();
        std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(fresh));
    }
    if (fresh.size() < 2) {
        say(fmt::format("process {} could not save a profile in {}, which TENURE_PROFILE_DIR of the process names",
                        process_id, process.folder()));
        recorded.code = exit_code::not_written;
        return recorded;
    }
    recorded.shown = fresh.back();
    recorded.code = exit_code::ok;
    return recorded;
}

void name_others(const std::vector<std::string>& files, std::string_view command, const std::string& folder) {
    constexpr std::size_t most = 5;
    if (files.empty()) return;
    std::string text = fmt::format("{} of other processes, for `{} FILE`:\n", files.size(), command);
    for (std::size_t index = 0; index < std::min(files.size(), most); ++index)
        text += fmt::format("  {}\n", files[index]);
    if (files.size() > most) text += fmt::format("  … and {} more in {}\n", files.size() - most, folder);
    std::fputs(text.c_str(), stderr);
}

}
