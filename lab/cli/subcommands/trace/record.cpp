// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/trace/record.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <tenure/base/options.hpp>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/arguments/whole_number.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/terminal.hpp"
#include "observe/trace/trace_packer.hpp"
#include "observe/trace/trace_reader.hpp"
#include "observe/tracer/record/settings.hpp"
#include "report/read_file.hpp"
#include "report/write.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view library_name = "libtenure_record.so";

/// Reads "64K" as options are read. Returns   false if it is not valid.
[[nodiscard]] bool read_bytes(const std::string& text, std::uint64_t& to) {
    return parse_option(option_table()[static_cast<std::size_t>(option::profile_sample_bytes)], text, to);
}

/// The raw files of a recording, that of the program itself first.
[[nodiscard]] std::vector<std::string> raw_files_of(const std::string& file) {
    constexpr std::string_view suffix = ".raw";
    std::vector<std::string> found;
    std::error_code error;
    const std::string name = fs::path(file).filename().string();
    for (const fs::directory_entry& each : fs::directory_iterator(fs::path(file).parent_path(), error)) {
        const std::string other = each.path().filename().string();
        if (!other.starts_with(name + ".") || !other.ends_with(suffix)) continue;
        const std::string_view inside = std::string_view(other).substr(name.size(), other.size() - name.size());
        if (inside.find_first_not_of(".0123456789") == inside.size() - suffix.size() + 1)
            found.push_back(each.path().string());
    }
    std::sort(found.begin(), found.end(), [&](const std::string& a, const std::string& b) {
        const bool is_first = a.size() == file.size() + suffix.size(),
                   is_other = b.size() == file.size() + suffix.size();
        return is_first != is_other ? is_first : a < b;
    });
    return found;
}

/// Why the file of a recording has not been packed; empty: it has.
[[nodiscard]] std::string pack(const std::string& raw, std::string& packed_path) {
    packed_path = raw.substr(0, raw.size() - std::string_view(".raw").size());
    const file_text file = read_file(raw, max_trace_file_bytes);
    if (!file.ok()) return fmt::format("{} {}", raw, file.error);
    const packed_trace packed = pack_trace(file.text);
    if (!packed.ok()) return fmt::format("{}: {}", raw, packed.error);
    if (!packed.damage.empty()) say(fmt::format("{}: {}", packed_path, packed.damage));
    if (std::string error = write_file(packed_path, packed.bytes); !error.empty()) return error;
    std::error_code error;
    fs::remove(raw, error);
    return {};
}

/// Whether a process that was recorded runs on: then its file still grows.
[[nodiscard]] bool runs_on(const std::string& raw) {
    const std::uint32_t process = process_of_trace(raw);
    return process != 0 && (::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
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
        "Other processes that the program starts are recorded too, each in a file of its own: FILE.PROCESS. While a "
        "program runs, its file is FILE.raw; that stays if this command is killed, and can be read like the other.\n\n"
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
    if (const std::vector<std::string> old = raw_files_of(file); !old.empty()) {
        say(fmt::format("{} is the file of a recording that runs, or whose command was killed: give it another name, "
                        "with which it can be read, or remove it",
                        old.front()));
        return exit_code::not_written;
    }
    std::uint64_t sample = 0;
    if (!sample_.empty()) static_cast<void>(read_bytes(sample_, sample));
    const ended_program ended = run_program(chosen.path, words_, [&] {
        ::setenv(tracer::file_variable, file.c_str(), 1);
        ::setenv(tracer::process_variable, std::to_string(::getpid()).c_str(), 1);
        ::setenv(tracer::stacks_variable, std::to_string(stacks_).c_str(), 1);
        ::setenv(tracer::sample_variable, std::to_string(sample).c_str(), 1);
        preload_first(preloadable(library, fs::path(file).parent_path().string()));
    });
    if (ended.process <= 0) return cannot_run;
    return keep(file, ended.code);
}

int record_command::keep(const std::string& file, int program_code) const {
    const std::vector<std::string> raw = raw_files_of(file);
    if (raw.empty()) {
        say("the program was not recorded: it removed LD_PRELOAD, or could not write the file");
        return program_code != 0 ? program_code : cannot_run;
    }
    int code = program_code;
    std::string others;
    for (const std::string& each : raw) {
        std::string packed;
        if (runs_on(each)) {
            say(fmt::format("{} still grows: its process runs on. tenure trace can read it at any time", each));
            continue;
        }
        if (const std::string error = pack(each, packed); !error.empty()) {
            say(fmt::format("{}. The recording is in {}", error, each));
            if (code == exit_code::ok) code = exit_code::not_written;
            continue;
        }
        if (packed == file) {
            std::fputs(fmt::format("trace: {}\n", packed).c_str(), stderr);
        } else {
            others += fmt::format("trace of another process: {}\n", packed);
        }
    }
    std::fputs(others.c_str(), stderr);
    return code;
}

}
