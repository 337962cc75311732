// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/programs/traced_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>

#include "bench/harness/mallocs/malloc_peers.hpp"
#include "cli/command_line.hpp"
#include "cli/programs/child_program.hpp"
#include "cli/programs/recording_files.hpp"
#include "cli/terminal.hpp"
#include "observe/access/access_sampler.hpp"
#include "observe/tracer/record/settings.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view library_name = "libtenure_record.so";

/// Never zero, which is no recording's.
[[nodiscard]] std::uint64_t random_number() {
    std::random_device device;
    return (std::uint64_t{device()} << 32 | device()) | 1;
}

/// Packs what the processes have left. `sampler`: nullptr: no accesses were sampled.
[[nodiscard]] traced_program keep(const std::string& file, std::uint64_t recording, const ended_program& ended,
                                  const access_sampler* sampler) {
    traced_program made;
    made.code = ended.code;
    const std::vector<raw_file> all = raw_files_of(file, recording);
    if (all.empty()) {
        say("the program was not recorded: it removed LD_PRELOAD, could not write the file, or had no memory for it");
        if (made.code == exit_code::ok) made.code = exit_code::not_written;
    }
    for (const raw_file& each : all) {
        if (each.is_growing) {
            say(fmt::format("{} still grows: its process runs on. tenure trace can read it at any time", each.path));
            if (sampler != nullptr)
                say(fmt::format("accesses of process {} are missing: they are added when a file is packed, and its "
                                "process has outlived the program",
                                each.process));
            continue;
        }
        std::vector<std::string> accesses;
        if (sampler != nullptr) {
            accesses = sampler->payloads_of(each.path);
            if (const std::string problem = sampler->problem_of(each.path); !problem.empty())
                say(fmt::format("accesses of process {} are {}: {}", each.process,
                                accesses.empty() ? "missing" : "incomplete", problem.substr(0, problem.size() - 1)));
        }
        const packing packed = pack(each, accesses);
        if (!packed.error.empty()) {
            say(fmt::format("{}. The recording stays in {}", packed.error, each.path));
            if (made.code == exit_code::ok) made.code = exit_code::not_written;
        } else {
            const bool is_own_process = each.process == static_cast<std::uint32_t>(ended.process);
            const trace_of whose = each.is_main     ? trace_of::program
                                   : is_own_process ? trace_of::after_exec
                                                    : trace_of::other_process;
            std::error_code error;
            const std::uintmax_t bytes = fs::file_size(packed.path, error);
            made.traces.push_back({packed.path, whose, packed.program, error ? 0 : bytes});
        }
    }
    std::stable_sort(made.traces.begin(), made.traces.end(),
                     [](const kept_trace& a, const kept_trace& b) { return a.bytes > b.bytes; });
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
    if (std::error_code error; fs::is_other(file, error))
        return refused(fmt::format("{} is not a regular file: a recording needs one", file), exit_code::not_written);
    if (std::error_code error; fs::exists(fs::symlink_status(file + ".raw", error))) {
        return refused(fmt::format("{}.raw is the file of a recording that runs, or whose command was killed: give it "
                                   "another name, with which it can be read, or remove it",
                                   file),
                       exit_code::not_written);
    }
    const std::uint64_t recording = random_number();
    const preloadable_library preloaded(library);
    std::optional<access_sampler> sampler;
    if (request.samples_accesses) {
        sampler.emplace(file, recording);
        if (const std::string reason = sampler->try_out(); !reason.empty()) {
            say(fmt::format("accesses are not recorded, only allocations: {}", reason.substr(0, reason.size() - 1)));
            sampler.reset();
        }
    }
    const auto prepare = [&] {
        ::setenv(tracer::file_variable, file.c_str(), 1);
        ::setenv(tracer::process_variable, std::to_string(::getpid()).c_str(), 1);
        ::setenv(tracer::stacks_variable, std::to_string(request.stacks).c_str(), 1);
        ::setenv(tracer::free_stacks_variable, request.has_free_stacks ? "1" : "0", 1);
        ::setenv(tracer::sample_variable, std::to_string(request.sample_bytes).c_str(), 1);
        ::setenv(tracer::access_variable, sampler ? "1" : "0", 1);
        ::setenv(tracer::number_variable, std::to_string(recording).c_str(), 1);
        preload_first(preloaded.path());
    };
    const ended_program ended = run_program(chosen.path, words, prepare, [&] {
        if (!sampler) return;
        if (const std::string reason = sampler->start(); !reason.empty()) {
            say(fmt::format("accesses are not recorded, only allocations: {}", reason.substr(0, reason.size() - 1)));
            sampler.reset();
        }
    });
    if (sampler) sampler->stop();
    if (request.at_end) request.at_end();
    return ended.process <= 0 ? refused({}, exit_code::failed)
                              : keep(file, recording, ended, sampler ? &*sampler : nullptr);
}

}
