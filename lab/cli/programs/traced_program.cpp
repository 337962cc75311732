// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/programs/traced_program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "bench/harness/mallocs/malloc_peers.hpp"
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

/// Packs what the processes have left.
[[nodiscard]] traced_program keep(const std::string& file, int program_code) {
    traced_program made;
    made.code = program_code;
    const std::vector<std::string> raw = raw_files_of(file);
    if (raw.empty()) {
        say("the program was not recorded: it removed LD_PRELOAD, or could not write the file");
        if (made.code == exit_code::ok) made.code = cannot_run;
        return made;
    }
    for (const std::string& each : raw) {
        std::string packed;
        if (runs_on(each)) {
            say(fmt::format("{} still grows: its process runs on. tenure trace can read it at any time", each));
            continue;
        }
        if (const std::string error = pack(each, packed); !error.empty()) {
            say(fmt::format("{}. The recording is in {}", error, each));
            if (made.code == exit_code::ok) made.code = exit_code::not_written;
            continue;
        }
        if (packed == file)
            made.own = packed;
        else
            made.others.push_back(packed);
    }
    return made;
}

/// A run that did not begin.
[[nodiscard]] traced_program refused(const std::string& why, int code) {
    if (!why.empty()) say(why);
    traced_program made;
    made.code = code;
    return made;
}

}

traced_program trace_program(const std::vector<std::string>& words, const trace_request& request) {
    const program_choice chosen = choose_program(words.front(), "recorded");
    if (!chosen.refusal.empty()) return refused(chosen.refusal, chosen.code);
    const std::string library = find_own_library(library_name);
    if (library.empty())
        return refused(fmt::format("{} is not beside the command", library_name), exit_code::bad_usage);
    const std::string file = fs::absolute(request.file).string();
    if (const std::string reason = why_not_writable(file); !reason.empty())
        return refused(reason, exit_code::not_written);
    if (const std::vector<std::string> old = raw_files_of(file); !old.empty()) {
        return refused(fmt::format("{} is the file of a recording that runs, or whose command was killed: give it "
                                   "another name, with which it can be read, or remove it",
                                   old.front()),
                       exit_code::not_written);
    }
    const ended_program ended = run_program(chosen.path, words, [&] {
        ::setenv(tracer::file_variable, file.c_str(), 1);
        ::setenv(tracer::process_variable, std::to_string(::getpid()).c_str(), 1);
        ::setenv(tracer::stacks_variable, std::to_string(request.stacks).c_str(), 1);
        ::setenv(tracer::sample_variable, std::to_string(request.sample_bytes).c_str(), 1);
        preload_first(preloadable(library, fs::path(file).parent_path().string()));
    });
    return ended.process <= 0 ? refused({}, cannot_run) : keep(file, ended.code);
}

}
