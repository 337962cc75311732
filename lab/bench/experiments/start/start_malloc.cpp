// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Programs started by a process with a malloc preloaded; they have it preloaded too.

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

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

constexpr double ns_per_us = 1000;

/// Shows blocks to the proof.
void show(const task& asked) {
    std::array<void*, 3> blocks{};
    for (void*& block : blocks) block = std::malloc(64);
    asked.out.blocks(blocks, 64);
    for (void* block : blocks) std::free(block);
}

/// Whether what a program printed of its map holds the preloaded malloc.
bool has_preloaded(const std::string& map) {
    const char* const preloaded = std::getenv("LD_PRELOAD"); // NOLINT(concurrency-mt-unsafe): one thread
    return preloaded == nullptr || *preloaded == '\0' || map.find(preloaded) != std::string::npos;
}

constexpr std::string_view not_preloaded = "the programs that were started did not have the malloc preloaded";

void run_nothing(const task& asked) {
    const std::size_t starts = asked.options.size("starts"), passes = asked.options.size("passes");
    const std::string seen = output_of({"/bin/cat", "/proc/self/maps", "/proc/self/status", nullptr});
    const double resident_kib = number_after(seen, "VmHWM:");
    if (resident_kib == 0) return asked.out.fail("/bin/cat could not be started, or failed");
    if (!has_preloaded(seen)) return asked.out.fail(not_preloaded);
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
    constexpr double kib_per_mib = 1024;
    asked.out.value("start and end", "", "us", median_of(times.all()) / ns_per_us);
    asked.out.value("peak resident", "", "MiB", resident_kib / kib_per_mib);
    show(asked);
}

/// A file in memory that the script's programs read.
/// Returns   its descriptor, which they inherit; negative when the system refused it.
int make_input() {
    const int file = ::memfd_create("lines", 0);
    for (int line = 0; file >= 0 && line < 40; ++line) {
        const std::string text = fmt::format("{:02} a line of a short file\n", line * 27 % 40);
        if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return -1;
    }
    return file;
}

/// A script of POSIX sh. It ends with an error as soon as one of its programs does.
std::string script_of(std::size_t rounds, int input) {
    return fmt::format("set -e\n"
                       "f=/proc/self/fd/{}\n"
                       "i=0\n"
                       "while [ $i -lt {} ]; do\n"
                       "    i=$(expr $i + 1)\n"
                       "    /bin/true\n"
                       "    cat $f >/dev/null\n"
                       "    sed -n 's/short/long/p' $f >/dev/null\n"
                       "    sort $f >/dev/null\n"
                       "done\n",
                       input, rounds);
}

constexpr std::size_t programs_per_round = 5;

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Processor time of all children that have ended, and of theirs.
double children_us() {
    rusage used{};
    ::getrusage(RUSAGE_CHILDREN, &used);
    return (seconds_of(used.ru_utime) + seconds_of(used.ru_stime)) * 1e6;
}

void run_script(const task& asked) {
    const std::size_t rounds = asked.options.size("programs") / programs_per_round;
    if (!has_preloaded(output_of({"/bin/sh", "-c", "cat /proc/self/maps", nullptr})))
        return asked.out.fail(not_preloaded);
    const int input = make_input();
    if (input < 0) return asked.out.fail("the system gave no file in memory (memfd_create)");
    const std::string warm = script_of(1, input), script = script_of(rounds, input);
    if (!run_program({"/bin/sh", "-c", warm.c_str(), nullptr}, nullptr)) return asked.out.fail("the script failed");
    const double used_us = children_us();
    const stopwatch watch;
    const bool good = run_program({"/bin/sh", "-c", script.c_str(), nullptr}, nullptr);
    const double wall_us = watch.elapsed_ns() / ns_per_us, processor_us = children_us() - used_us;
    ::close(input);
    if (!good) return asked.out.fail("the script failed");
    const auto programs = static_cast<double>(rounds * programs_per_round);
    const std::string variant = fmt::format("a shell script of {} programs", rounds * programs_per_round);
    asked.out.value("wall", variant, "us/program", wall_us / programs);
    asked.out.value("processor", variant, "us/program", processor_us / programs);
    show(asked);
}

void run_start(const task& asked) {
    if (asked.part == start_part::script) return run_script(asked);
    run_nothing(asked);
}

constexpr std::array<contestant, 1> in_start{{
    {.how = route::process_malloc, .role = contestant_role::peer, .parts = start_part::all, .run = run_start},
}};

}

std::span<const contestant> mallocs_in_start() { return in_start; }

}
