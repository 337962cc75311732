// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/separation_advice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "bench/harness/machine/memory.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "cli/command_line.hpp"
#include "cli/subcommands/trace/replay_options.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/plan/replay_plan.hpp"
#include "observe/replay/report/separation_json.hpp"
#include "observe/replay/report/separation_text.hpp"
#include "observe/replay/report/stack_names.hpp"
#include "observe/replay/separation/advice_file.hpp"
#include "observe/replay/separation/separation_search.hpp"
#include "observe/trace/trace_reader.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

/// One line on a terminal, which is gone at the end.
class step_line {
public:
    ~step_line() { clear(); }
    void show(std::uint32_t step, std::uint32_t steps, const std::string& what) const {
        if (!is_shown_) return;
        std::fputs(fmt::format("\r\033[Kstep {} of {}: {}", step, steps, what).c_str(), stderr);
        std::fflush(stderr);
    }
    void clear() const {
        if (is_shown_) std::fputs("\r\033[K", stderr);
    }

private:
    bool is_shown_ = ::isatty(STDERR_FILENO) == 1;
};

/// Whether two files have the same contents, or are one.
bool are_identical(const std::string& one, const std::string& other) {
    std::error_code error;
    if (std::filesystem::equivalent(one, other, error)) return true;
    if (std::filesystem::file_size(one, error) != std::filesystem::file_size(other, error)) return false;
    std::ifstream first(one, std::ios::binary), second(other, std::ios::binary);
    return first && second &&
           std::equal(std::istreambuf_iterator<char>(first), {}, std::istreambuf_iterator<char>(second), {});
}

std::string why_same_run(const std::string& check, const std::string& learned_from) {
    return fmt::format("--check {}: it is the run that the advice is learned from, {}. Record another run, with other "
                       "input",
                       check, learned_from);
}

int say_not_written() {
    say("interrupted: no advice is written");
    return exit_code::interrupted;
}

}

std::string why_no_checks(const std::vector<std::string>& checks, const std::string& trace_file) {
    for (const std::string& each : checks) {
        if (!trace_file.empty() && are_identical(each, trace_file)) return why_same_run(each, trace_file);
        const trace found = load_trace(each);
        if (!found.ok()) return "--check: " + found.error;
        std::string why = why_too_large_to_learn(found, available_memory_bytes());
        if (why.empty()) why = make_plan(found).error;
        if (why.empty()) why = why_no_separation(found);
        if (!why.empty()) return fmt::format("--check {}: {}", each, why);
    }
    return {};
}

int advise_separation(trace& recorded, const separation_request& request) {
    const interrupt_guard guard;
    stack_names names(recorded);
    const place_names named = [&](std::uint32_t stack) { return names.of(stack); };
    const step_line line;
    // Only headers count for this, and a trace of the same recording may be cut, packed or renamed.
    for (const std::string& each : request.checks) {
        trace_limits none;
        none.events = 0;
        if (!is_same_run(recorded, load_trace(each, none))) continue;
        say(why_same_run(each, request.trace_file));
        return exit_code::bad_usage;
    }
    separation_report found = find_separation(
        recorded, request.replay,
        [&](std::uint32_t step, std::uint32_t steps, const std::string& what) { line.show(step, steps, what); });
    if (!found.error.empty()) {
        line.clear();
        say(fmt::format("{}: {}", request.program, found.error));
        return exit_code::bad_usage;
    }
    name_classes(found, named);
    for (const std::string& each : request.checks) {
        if (interrupted() || found.advised.sites.empty()) break;
        line.clear();
        trace other = read_for_replay(each);
        if (!other.ok()) return exit_code::bad_usage;
        check_separation(found, other, each, request.replay);
        if (found.error.empty()) continue;
        say(found.error);
        return exit_code::bad_usage;
    }
    if (interrupted()) return say_not_written();
    line.clear();
    bool is_written = write_to(request.file, to_advice_text(found.advised, remark_for(found, request.program)));
    if (!request.json.empty()) is_written = write_to(request.json, to_json(found, named)) && is_written;
    if (request.file == "-" || request.json == "-") return is_written ? exit_code::ok : exit_code::not_written;
    std::string text = to_text(found, named, output_style());
    if (is_written && found.advised.sites.empty())
        text += fmt::format("{} is written, without sites.\n", request.file);
    else if (is_written)
        text += fmt::format("{} is written{}. Use it: tenure run --advice {} -- PROGRAM\n", request.file,
                            recorded.arguments.empty() ? "" : ", for " + printable(recorded.arguments.front()),
                            request.file);
    if (request.report_to == report_stream::err)
        std::fputs(text.c_str(), stderr);
    else
        is_written = print(text) && is_written;
    return is_written ? exit_code::ok : exit_code::not_written;
}

}
