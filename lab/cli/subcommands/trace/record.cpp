// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>

#include <tenure/base/options.hpp>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/arguments/whole_number.hpp"
#include "cli/command_line.hpp"
#include "cli/subcommands/trace/recording_files.hpp"
#include "cli/terminal.hpp"
#include "observe/tracer/record/settings.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view library_name = "libtenure_record.so";

/// Reads "64K" as options are read. Returns   false if it is not valid.
[[nodiscard]] bool read_bytes(const std::string& text, std::uint64_t& to) {
    return parse_option(option_table()[static_cast<std::size_t>(option::profile_sample_bytes)], text, to);
}

/// Never zero, which is no recording's.
[[nodiscard]] std::uint64_t random_number() {
    std::random_device device;
    return (std::uint64_t{device()} << 32 | device()) | 1;
}

}

record_command::record_command(CLI::App& app)
    : command_(app.add_subcommand("record", "Runs a program and records each of its allocations in a file")) {
    constexpr std::int64_t most_frames = tracer::max_stack_frames;
    command_->add_option("-o,--out", out_, "The file; PROGRAM.trace if it is not given. It is replaced")
        ->type_name("FILE");
    command_
        ->add_option("--stacks", stacks_,
                     fmt::format("Also records the call stack of each allocation, of at most so many frames, up to {}",
                                 most_frames))
        ->transform(whole_number(0, most_frames))
        ->type_name("N")
        ->capture_default_str();
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
        "  tenure trace info perl.trace                    what the trace says\n\n"
        "Other processes that the program starts are recorded too, each in a file of its own: FILE.PROCESS. So is a "
        "program that replaces another in its process: of a script that begins with #!/usr/bin/env, FILE has what env "
        "does, and FILE.PROCESS the script. While a program runs, its file is FILE.raw; that stays if this command is "
        "killed, and can be read like the other.\n\n"
        "Exit codes: the program's own, or 128 plus the signal's number when a signal ended it; 2 invalid command "
        "line, or the library was not found; 3 the file could not be written; 70 the command itself failed; 126 the "
        "program cannot be recorded; 127 the program was not found.");
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
    const program_choice chosen = choose_program(words_.front(), "recorded");
    if (!chosen.refusal.empty()) {
        say(chosen.refusal);
        return chosen.code;
    }
    const std::string library = find_own_library(library_name);
    if (library.empty()) {
        say(fmt::format("{} is not beside the command", library_name));
        return exit_code::bad_usage;
    }
    const std::string file =
        fs::absolute(out_.empty() ? fs::path(chosen.path).filename().string() + ".trace" : out_).string();
    if (const std::string reason = why_not_writable(file); !reason.empty()) {
        say(reason);
        return exit_code::not_written;
    }
    if (std::error_code error; fs::is_other(file, error)) {
        say(fmt::format("{} is not a regular file: a recording needs one", file));
        return exit_code::not_written;
    }
    if (std::error_code error; fs::exists(fs::symlink_status(file + ".raw", error))) {
        say(fmt::format("{}.raw is the file of a recording that runs, or whose command was killed: give it another "
                        "name, with which it can be read, or remove it",
                        file));
        return exit_code::not_written;
    }
    std::uint64_t sample = 0;
    if (!sample_.empty()) static_cast<void>(read_bytes(sample_, sample));
    const std::uint64_t recording = random_number();
    const preloadable_library preloaded(library);
    const ended_program ended = run_program(chosen.path, words_, [&] {
        ::setenv(tracer::file_variable, file.c_str(), 1);
        ::setenv(tracer::process_variable, std::to_string(::getpid()).c_str(), 1);
        ::setenv(tracer::stacks_variable, std::to_string(stacks_).c_str(), 1);
        ::setenv(tracer::sample_variable, std::to_string(sample).c_str(), 1);
        ::setenv(tracer::number_variable, std::to_string(recording).c_str(), 1);
        preload_first(preloaded.path());
    });
    if (ended.process <= 0) return cannot_run;
    return keep(file, recording, ended);
}

int record_command::keep(const std::string& file, std::uint64_t recording, const ended_program& ended) {
    const std::vector<raw_file> all = raw_files_of(file, recording);
    if (all.empty()) {
        say("the program was not recorded: it removed LD_PRELOAD, or could not write the file");
        return ended.code != 0 ? ended.code : cannot_run;
    }
    int code = ended.code;
    std::string others;
    for (const raw_file& each : all) {
        if (each.is_growing) {
            say(fmt::format("{} still grows: its process runs on. tenure trace can read it at any time", each.path));
            continue;
        }
        const packing packed = pack(each);
        if (!packed.error.empty()) {
            say(fmt::format("{}. The recording stays in {}", packed.error, each.path));
            if (code == exit_code::ok) code = exit_code::not_written;
        } else if (each.is_main) {
            std::fputs(fmt::format("trace: {}\n", packed.path).c_str(), stderr);
        } else if (each.process == static_cast<std::uint32_t>(ended.process)) {
            others += fmt::format("trace of the same process after exec: {}\n", packed.path);
        } else {
            others += fmt::format("trace of another process: {}\n", packed.path);
        }
    }
    std::fputs(others.c_str(), stderr);
    return code;
}

}
