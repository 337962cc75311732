// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/separation_advice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "bench/harness/worker/interrupt.hpp"
#include "cli/command_line.hpp"
#include "cli/subcommands/trace/replay_options.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/report/separation_json.hpp"
#include "observe/replay/report/separation_text.hpp"
#include "observe/replay/report/stack_names.hpp"
#include "observe/replay/separation/advice_file.hpp"
#include "observe/replay/separation/separation_search.hpp"

namespace tenure::lab {

namespace {

/// One line on a terminal, which is gone at the end.
class step_line {
public:
    ~step_line() { clear(); }
    void show(std::uint32_t step, std::uint32_t steps, const std::string& what) const {
        if (!is_shown_) return;
        std::fputs(fmt::format("\r\033[Kreplays {} of {}: {}", step, steps, what).c_str(), stderr);
        std::fflush(stderr);
    }
    void clear() const {
        if (is_shown_) std::fputs("\r\033[K", stderr);
    }

private:
    bool is_shown_ = ::isatty(STDERR_FILENO) == 1;
};

int say_not_written() {
    say("interrupted: no advice is written");
    return exit_code::interrupted;
}

}

int advise_separation(trace& recorded, const separation_request& request) {
    const interrupt_guard guard;
    stack_names names(recorded);
    const place_names named = [&](std::uint32_t stack) { return names.of(stack); };
    const step_line line;
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
        text += fmt::format("{} is written. Use it: tenure run --advice {} -- PROGRAM\n", request.file, request.file);
    if (request.report_to == report_stream::err)
        std::fputs(text.c_str(), stderr);
    else
        is_written = print(text) && is_written;
    return is_written ? exit_code::ok : exit_code::not_written;
}

}
