// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/record.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <tenure/base/options.hpp>

#include "cli/arguments/whole_number.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/traced_program.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/report/advice_words.hpp"
#include "observe/tracer/record/settings.hpp"

namespace tenure::lab {

namespace {

/// Reads "64K" as options are read. Returns   false if it is not valid.
[[nodiscard]] bool read_bytes(const std::string& text, std::uint64_t& to) {
    return parse_option(option_table()[static_cast<std::size_t>(option::profile_sample_bytes)], text, to);
}

/// The line that names a trace; of one of several it says which program's it is.
[[nodiscard]] std::string line_of(const kept_trace& of, bool is_one_of_several) {
    constexpr std::array names{"trace", "trace of the same process after exec", "trace of another process"};
    const std::string about = is_one_of_several
                                  ? fmt::format(" ({}, {})", of.program.empty() ? "program not known" : of.program,
                                                bytes_in_words(static_cast<double>(of.bytes)))
                                  : "";
    return fmt::format("{}: {}{}\n", names[static_cast<std::size_t>(of.whose)], of.path, about);
}

}

record_command::record_command(CLI::App& app)
    : command_(app.add_subcommand("record", "Runs a program and records each of its allocations in a file")) {
    constexpr std::int64_t most_frames = tracer::max_stack_frames;
    command_->add_option("-o,--out", out_, "The file; PROGRAM.trace if it is not given. It is replaced")
        ->type_name("FILE");
    command_
        ->add_option("--stacks", stacks_,
                     fmt::format("Also records the call stack of each allocation, resize and free, of at most so many "
                                 "frames, up to {}",
                                 most_frames))
        ->transform(whole_number(0, most_frames))
        ->type_name("N")
        ->capture_default_str();
    command_->add_flag("--no-free-stacks", has_no_free_stacks_,
                       "With --stacks: records no stacks of frees. Recording is faster, and tenure advise proves less");
    command_->add_flag("--access", samples_accesses_,
                       "Also watches some blocks, four at a time, and records when the program reads or writes them: "
                       "tenure advise then tells which are touched together, or never. Needs --stacks; 24 without it");
    command_
        ->add_option("--sample", sample_,
                     "Records only some blocks: those that take one of so many allocated bytes, on average, with "
                     "suffix K, M or G. Without it all")
        ->type_name("BYTES");
    command_->add_option("program", words_, "After --: program and arguments")->type_name("-- PROGRAM");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure record -o perl.trace -- perl script.pl   each call of malloc, operator new, realloc, free ...\n"
        "  tenure record --stacks 8 -- ./server            and where each allocation comes from\n"
        "  tenure record --access -- ./server              and which blocks are touched, by watchpoints\n"
        "  tenure trace info perl.trace                    what the trace says\n\n"
        "Other processes that the program starts are recorded too, each in a file of its own: FILE.PROCESS. So is a "
        "program that replaces another in its process: of a script that begins with #!/usr/bin/env, FILE has what env "
        "does, and FILE.PROCESS the script. They are listed with the name of the program, the largest first. While a "
        "program runs, its file is FILE.raw; that stays if this command is "
        "killed, and can be read like the other.\n\n"
        "Exit codes: the program's own, or 128 plus the signal's number when a signal ended it; 2 invalid command "
        "line, or the library was not found; 3 the file could not be written, or the program ended with 0 and was not "
        "recorded; 70 the command itself failed; 126 the program cannot be recorded, and was not run; 127 the program "
        "was not found.");
}

std::string record_command::mistake_in_options() const {
    if (words_.empty()) return "nothing was given to run: tenure record -o FILE -- PROGRAM ...";
    std::uint64_t bytes = 0;
    if (!sample_.empty() && !read_bytes(sample_, bytes))
        return fmt::format("--sample {} is not valid: bytes from 1 to 1G, as in 64K", sample_);
    if (out_ == "-") return "a recording needs a file: -o FILE";
    return {};
}

int record_command::run() const {
    if (const std::string mistake = mistake_in_options(); !mistake.empty()) {
        say(mistake);
        return exit_code::bad_usage;
    }
    trace_request request;
    request.file = out_.empty() ? std::filesystem::path(words_.front()).filename().string() + ".trace" : out_;
    constexpr std::uint32_t frames_for_accesses = 24;
    request.stacks = samples_accesses_ && stacks_ == 0 ? frames_for_accesses : stacks_;
    request.samples_accesses = samples_accesses_;
    request.has_free_stacks = !has_no_free_stacks_;
    if (!sample_.empty()) static_cast<void>(read_bytes(sample_, request.sample_bytes));
    const traced_program found = trace_program(words_, request);
    for (const kept_trace& each : found.traces) std::fputs(line_of(each, found.traces.size() > 1).c_str(), stderr);
    return found.code;
}

}
