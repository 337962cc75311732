// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Programs started by a process with a malloc preloaded; they have it preloaded too.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "bench/experiments/start/start.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

/// Starts a program and waits for its end.
/// Returns   whether its exit code was 0.
bool run_program(const std::array<const char*, 4>& arguments, const posix_spawn_file_actions_t* files) {
    std::array<char*, 5> words{};
    for (std::size_t i = 0; i < arguments.size(); ++i) words[i] = const_cast<char*>(arguments[i]);
    pid_t child = 0;
    int status = 0;
    if (::posix_spawn(&child, arguments[0], files, nullptr, words.data(), environ) != 0) return false;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The output of a program.
std::string output_of(const std::array<const char*, 4>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    // Read only at the end: a pipe holds 64 KiB, and the two files have a few.
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    const bool good = run_program(arguments, &files);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t count; good && (count = ::read(ends[0], piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<std::size_t>(count));
    ::close(ends[0]);
    return text;
}

/// The number after a word; 0 when the word is missing.
double number_after(const std::string& text, std::string_view word) {
    const std::size_t place = text.find(word);
    return place == std::string::npos ? 0 : std::strtod(text.c_str() + place + word.size(), nullptr);
}

void run_start(const task& asked) {
    const std::size_t starts = asked.options.size("starts"), passes = asked.options.size("passes");
    const char* const preloaded = std::getenv("LD_PRELOAD"); // NOLINT(concurrency-mt-unsafe): one thread
    const std::string seen = output_of({"/bin/cat", "/proc/self/maps", "/proc/self/status", nullptr});
    const double resident_kib = number_after(seen, "VmHWM:");
    if (resident_kib == 0) return asked.out.fail("/bin/cat could not be started, or failed");
    if (preloaded != nullptr && *preloaded != '\0' && seen.find(preloaded) == std::string::npos)
        return asked.out.fail("the programs that were started did not have the malloc preloaded");
    constexpr std::array<const char*, 4> nothing{"/bin/true", nullptr, nullptr, nullptr};
    for (int warm = 0; warm < 3; ++warm) {
        if (!run_program(nothing, nullptr)) return asked.out.fail("/bin/true failed");
    }
    const page_array<double> times(passes);
    bool good = true;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        const stopwatch watch;
        for (std::size_t start = 0; start < starts; ++start) good &= run_program(nothing, nullptr);
        times[pass] = watch.elapsed_ns() / static_cast<double>(starts);
    }
    if (!good) return asked.out.fail("/bin/true failed");
    constexpr double ns_per_us = 1000, kib_per_mib = 1024;
    asked.out.value("start and end", "", "us", median_of(times.all()) / ns_per_us);
    asked.out.value("peak resident", "", "MiB", resident_kib / kib_per_mib);
    std::array<void*, 3> blocks{};
    for (void*& block : blocks) block = std::malloc(64);
    asked.out.blocks(blocks, 64);
    for (void* block : blocks) std::free(block);
}

constexpr std::array<contestant, 1> in_start{{
    {.how = route::process_malloc, .role = contestant_role::peer, .parts = 1, .run = run_start},
}};

}

std::span<const contestant> mallocs_in_start() { return in_start; }

}
