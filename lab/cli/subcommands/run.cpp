// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Prepares what to preload and set, and checks it before the program replaces this process.

#include "cli/subcommands/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <tenure/base/options.hpp>

#include "bench/harness/mallocs/malloc_calls.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/arguments/nearest.hpp"
#include "cli/arguments/program_file.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/subcommands/options.hpp"
#include "cli/terminal.hpp"
#include "observe/replay/separation/advice_file.hpp"
#include "observe/trace/header/trace_header.hpp"

namespace tenure::lab {

namespace {

struct chosen_library {
    std::string path; ///< empty for the C library's own malloc
    std::string refusal;
};

chosen_library own_library(std::string_view file) {
    const found_malloc found = find_own_malloc(file);
    return {found.library, found.reason};
}

chosen_library peer_library(const std::string& name) {
    std::vector<std::string> names{"tenure", "hardened", "system"};
    for (const malloc_peer& peer : malloc_peers()) names.emplace_back(peer.name);
    for (const found_malloc& each : find_mallocs()) {
        if (!same_name(each.name, name)) continue;
        return {each.library, each.found ? std::string{} : each.reason};
    }
    return {{}, unknown_name("heap", name, names)};
}

/// A library given by path.
chosen_library library_file(const std::string& path) {
    std::error_code error;
    const std::string whole = std::filesystem::canonical(path, error).string();
    if (error) return {{}, fmt::format("--heap {}: {}", path, error.message())};
    if (!std::filesystem::is_regular_file(whole)) return {whole, fmt::format("--heap {} is not a file", path)};
    char head[4]{};
    std::ifstream(whole, std::ios::binary).read(head, sizeof head);
    const bool is_elf = std::string_view(head, sizeof head) == "\x7F"
                                                               "ELF";
    return {whole, is_elf ? "" : fmt::format("--heap {} is not a shared library", path)};
}

chosen_library find_library(const std::string& name) {
    if (name == "tenure") return own_library("libtenure_malloc.so");
    if (name == "hardened") return own_library("libtenure_malloc_hardened.so");
    if (name == "system" || name == "glibc") return {};
    if (name.find('/') != std::string::npos) return library_file(name);
    return peer_library(name);
}

/// Puts NAME=VALUE into the environment.
/// Returns   what is wrong with it; empty when it is valid.
std::string set(const std::string& setting, std::string_view given_as) {
    named_setting read;
    std::string wrong = read_setting(setting, given_as, read);
    if (wrong.empty()) ::setenv(read.variable.c_str(), read.value.c_str(), 1);
    return wrong;
}

/// The library name of a file: "libjemalloc" for "/usr/lib/libjemalloc.so.2".
std::string_view name_of_library(std::string_view file) {
    const std::string_view name = file.substr(file.find_last_of('/') + 1);
    return name.substr(0, name.find(".so"));
}

/// Whether a file in LD_PRELOAD, or the target of its link, has the name of our malloc or of a peer's.
bool is_known_malloc(std::string_view file) {
    std::error_code error;
    const std::string real = std::filesystem::canonical(file, error).string(); // empty if only the loader finds it
    for (const std::string_view each : {name_of_library(file), name_of_library(real)}) {
        if (each.starts_with(own_malloc_prefix)) return true;
        for (const malloc_peer& peer : malloc_peers()) {
            if (each == name_of_library(peer.file)) return true;
        }
    }
    return false;
}

/// Keeps what was preloaded, except mallocs, so that the C library's malloc is used.
void take_out_mallocs() {
    const char* const before = std::getenv("LD_PRELOAD");
    std::string_view rest = before != nullptr ? before : "";
    constexpr std::string_view separators = ": ";
    std::string others;
    bool was_there = false;
    while (!rest.empty()) {
        const std::string_view file = rest.substr(0, rest.find_first_of(separators));
        rest.remove_prefix(std::min(file.size() + 1, rest.size()));
        const bool is_malloc = is_known_malloc(file);
        was_there = was_there || is_malloc;
        if (file.empty() || is_malloc) continue;
        if (!others.empty()) others += ':';
        others += file;
    }
    if (!was_there) return;
    others.empty() ? ::unsetenv("LD_PRELOAD") : ::setenv("LD_PRELOAD", others.c_str(), 1);
}

/// Whether it forwards calls of malloc to the next library.
[[nodiscard]] bool is_recorder(std::string_view name) {
    return name == "libtenure_watch" || name == "libtenure_blocks" || name == "libtenure_record";
}

/// Comes first in LD_PRELOAD, because the first malloc is used. Only what an enclosing `tenure watch`, `tenure record`
/// or `tenure pins --heap own` has put there stays before it and forwards calls to it.
void preload(const std::string& library) {
    if (library.empty()) return take_out_mallocs();
    const char* const before = std::getenv("LD_PRELOAD");
    std::string_view others = before != nullptr ? before : "";
    std::string all;
    const std::string_view first = others.substr(0, others.find_first_of(": "));
    if (is_recorder(name_of_library(first))) {
        all = fmt::format("{}:", first);
        others.remove_prefix(std::min(first.size() + 1, others.size()));
    }
    all += library;
    if (!others.empty()) all += fmt::format(":{}", others);
    ::setenv("LD_PRELOAD", all.c_str(), 1);
}

std::string passthrough_variable() {
    return std::string{option_table()[static_cast<std::size_t>(option::passthrough)].environment};
}

/// A program that uses Tenure also allocates its persistent memory and buffers from the selected malloc. An explicit
/// passthrough setting (--set or the environment) is not changed. Our own malloc would forward its blocks to the C
/// library.
void let_persistent_memory_follow(const std::string& library) {
    if (library.empty() || name_of_library(library).starts_with(own_malloc_prefix)) return;
    ::setenv(passthrough_variable().c_str(), "heap", 0);
}

/// An enclosing `tenure run` may have set options for its own malloc; they do not apply to another malloc.
void forget_who_ran_us() {
    const char* const passed = std::getenv(passthrough_variable().c_str());
    const char* const before = std::getenv("LD_PRELOAD");
    if (passed == nullptr || before == nullptr || std::string_view{passed} != "heap") return;
    const std::string_view first = std::string_view{before}.substr(0, std::string_view{before}.find_first_of(": "));
    if (is_known_malloc(first) && !name_of_library(first).starts_with(own_malloc_prefix)) {
        ::unsetenv(passthrough_variable().c_str());
    }
}

}

run_command::run_command(CLI::App& app)
    : command_(app.add_subcommand("run", "Runs a program, unmodified, with a malloc of your choice")) {
    command_
        ->add_option("--heap", heap_,
                     "The malloc to use: tenure, hardened (reports the caller's mistakes), system (the C "
                     "library's), a peer from `tenure list`, or the path of a library (with a slash). With a peer "
                     "or a library, Tenure's own heap in the program uses it too (option passthrough, unless it is "
                     "set)")
        ->type_name("NAME")
        ->capture_default_str();
    command_
        ->add_option("--set", settings_,
                     "Sets one of the options shown by `tenure options` for the program. Repeat --set to set several")
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
    command_->add_flag(
        "--stats{text}", report_,
        "The program and each program it starts print statistics of the drop-in to standard error when they exit; "
        "--stats=json for machine-readable output");
    command_
        ->add_option(
            "--limit", limit_,
            "Maximum bytes in use in the program's heap, with suffix K, M or G. Requests past it fail, and the "
            "first one writes a report of who holds what to standard error (as JSON with --stats=json)")
        ->type_name("BYTES");
    command_
        ->add_option("--advice", advice_,
                     "A file that `tenure advise -o` has written: blocks of the call sites that it names get pages of "
                     "their own, so that what is freed together can go back to the system. Files of other programs "
                     "have no effect")
        ->type_name("FILE");
    command_->add_option("program", program_, "The program and its arguments, after --")
        ->required()
        ->type_name("PROGRAM ...");
    command_->footer(
        "\n"
        "Examples:\n"
        "  tenure run -- ./game --level 3\n"
        "  tenure run --stats -- g++ -O2 -c heavy.cpp        shows that the drop-in was used\n"
        "  tenure run --heap hardened -- ./tests             finds double frees, overflows, foreign pointers\n"
        "  tenure run --limit 512M -- ./server               requests past 512 MiB fail; says who holds what\n"
        "  tenure run --advice server.advice -- ./server     separates call sites as `tenure advise -o` found best\n"
        "  tenure run --set passthrough=heap -- ./game       same library, blocks from the C library\n"
        "  tenure run --heap jemalloc -- ./game              uses a peer\n"
        "  tenure run --heap jemalloc -- dotnet app.dll      lets Tenure.Jemalloc find and tune jemalloc\n\n"
        "Exit codes: the program's own; 2 invalid command line, or the library was not found; 70 the command itself "
        "failed; 126 the program cannot be run this way; 127 the program was not found.");
}

std::string run_command::refusal() const {
    const bool is_ours = heap_ == "hardened" || same_name(heap_, own_malloc_name) ||
                         same_name(heap_, own_hardened_name) || name_of_library(heap_).starts_with(own_malloc_prefix);
    if (!report_.empty() && !is_ours)
        return fmt::format("only Tenure's malloc supports --stats: remove --stats or --heap {}", heap_);
    if (!limit_.empty() && !is_ours)
        return fmt::format("only Tenure's malloc supports --limit: remove --limit or --heap {}", heap_);
    if (!report_.empty() && report_ != "text" && report_ != "json")
        return fmt::format("--stats={} is not valid; text or json", report_);
    if (advice_.empty()) return {};
    if (!same_name(heap_, own_malloc_name))
        return fmt::format("only the heap \"tenure\" follows advice: remove --advice or --heap {}", heap_);
    return {};
}

/// `is_advice_empty`: whether --advice names no call sites.
std::string run_command::apply_settings(bool& is_advice_empty) const {
    std::vector<std::string> settings = settings_;
    if (!report_.empty()) settings.push_back("malloc_stats=" + report_);
    for (const std::string& each : settings) {
        if (std::string wrong = set(each, "--set"); !wrong.empty()) return wrong;
    }
    if (!advice_.empty()) {
        std::error_code error;
        const std::string whole = std::filesystem::canonical(advice_, error).string();
        if (error) return fmt::format("--advice {}: {}", advice_, error.message());
        if (trace_format::file_header header{}; read_header(whole, header))
            return fmt::format("--advice {} is a trace. Make the advice of it first: tenure advise -o FILE {}", advice_,
                               advice_);
        const read_advice found = load_advice(whole);
        if (!found.ok()) return fmt::format("--advice: {}", found.error);
        is_advice_empty = found.advised.sites.empty();
        ::setenv("TENURE_ADVICE", whole.c_str(), 1);
        // The program has this process's number. It says if none of the files is loaded: nobody knows that yet.
        ::setenv("TENURE_ADVICE_PROCESS", std::to_string(::getpid()).c_str(), 1);
    }
    return limit_.empty() ? std::string{} : set("heap_limit_bytes=" + limit_, "--limit");
}

void run_command::warn_of_empty_advice() const {
    say(fmt::format("--advice {} has no effect: the file names no call sites, because `tenure advise -o` found none "
                    "that would save memory in the recorded run. Record a run that holds more memory, or leave "
                    "--advice out",
                    advice_));
}

int run_command::run() const {
    forget_who_ran_us();
    std::string wrong = refusal();
    bool is_advice_empty = false;
    if (wrong.empty()) wrong = apply_settings(is_advice_empty);
    if (!wrong.empty()) {
        say(wrong);
        return exit_code::bad_usage;
    }
    const std::string path = find_program(program_.front());
    if (path.empty()) {
        const std::string why = why_not_executable(program_.front());
        say(why.empty() ? fmt::format("there is no program {}", program_.front())
                        : fmt::format("{} {}", program_.front(), why));
        return why.empty() ? not_found : cannot_run;
    }
    const chosen_library library = advice_.empty() ? find_library(heap_) : own_library("libtenure_malloc_advised.so");
    if (!library.refusal.empty()) {
        say(library.refusal);
        return exit_code::bad_usage;
    }
    const std::string reason = library.path.empty() ? std::string{} : why_not_preloadable(path);
    if (!reason.empty()) {
        say(fmt::format("{} {}", path, reason));
        return cannot_run;
    }
    if (is_advice_empty) warn_of_empty_advice();
    preload(library.path);
    let_persistent_memory_follow(library.path);
    std::vector<char*> words;
    for (const std::string& each : program_) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    ::execv(path.c_str(), words.data());
    say(fmt::format("{} cannot be run: {}", path, std::strerror(errno)));
    return cannot_run;
}

}
