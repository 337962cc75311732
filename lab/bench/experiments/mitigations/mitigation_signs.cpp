// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Mistakes in child processes.
///
/// Each mistake is harmless, or is not noticed, unless the one mitigation is on that reports it. "guards" and
/// "zero_size" end the process with a fault.

#include "bench/experiments/mitigations/mitigation_signs.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::size_t bytes = 40; ///< the canary begins right behind them

/// The compiler no longer knows where the pointer comes from, so it neither warns of a mistake nor removes it.
char* hidden(void* block) {
    asm volatile("" : "+r"(block) : : "memory");
    return static_cast<char*>(block);
}

char* take(std::size_t size) {
    char* const block = hidden(std::malloc(size));
    if (block == nullptr) std::abort();
    return block;
}

void give(char* block) { std::free(hidden(block)); }

void flip(volatile char* at) { *at = static_cast<char>(*at ^ 1); }

/// Ranges of the process's map of at most `largest` bytes without access rights that are no part of a file.
std::size_t guard_count(std::size_t largest) {
    std::FILE* const file = std::fopen("/proc/self/maps", "r");
    if (file == nullptr) std::abort();
    std::array<char, 512> line{};
    std::size_t count = 0;
    while (std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr) {
        char* rest = nullptr; // "7f397ca10000-7f397ce00000 ---p 00000000 00:00 0"
        const unsigned long begin = std::strtoul(line.data(), &rest, 16);
        const unsigned long end = std::strtoul(rest + 1, &rest, 16);
        const bool is_closed = std::string_view{rest}.starts_with(" ---p 00000000 00:00 0 ");
        count += is_closed && end - begin <= largest ? 1 : 0;
    }
    std::fclose(file);
    return count;
}

// Each returns whether the mitigation is seen, or ends the process.

bool canary() {
    char* const block = take(bytes);
    flip(block + bytes);
    give(block);
    return false;
}

bool front() {
    static_cast<void>(take(bytes));
    char* const block = take(bytes); // behind another block, or behind the gap of the page
    flip(block - 1);
    give(block);
    return false;
}

bool form() {
    ::operator delete(hidden(take(bytes)));
    return false;
}

bool sized() {
    ::operator delete(hidden(::operator new(bytes)), bytes + 1);
    return false;
}

/// Later frees push the written block out of the quarantine, so that it is used again and looked at.
bool fill() {
    std::array<char*, 1000> others{};
    for (char*& block : others) block = take(bytes);
    char* const written = take(bytes);
    give(written);
    flip(written + bytes / 2);
    for (char* const block : others) give(block);
    for (std::size_t call = 0; call < 10 * others.size(); ++call) static_cast<void>(take(bytes));
    return false;
}

/// None of the blocks that were just freed is handed out again. A shuffled order alone does that by chance once in a
/// while, but not six times.
bool quarantine() {
    constexpr std::size_t count = 16, times = 6; // together fewer than rest in the quarantine
    for (std::size_t time = 0; time < times; ++time) {
        std::array<char*, count> freed{};
        for (char*& block : freed) block = take(bytes);
        for (char* const block : freed) give(block);
        for (std::size_t call = 0; call < count; ++call) {
            if (std::find(freed.begin(), freed.end(), take(bytes)) != freed.end()) return false;
        }
    }
    return true;
}

/// The addresses of fresh blocks neither rise nor fall.
bool shuffled() {
    constexpr int count = 64;
    int rises = 0;
    const char* previous = take(bytes);
    for (int call = 0; call < count; ++call) {
        const char* const block = take(bytes);
        rises += std::less<>{}(previous, block) ? 1 : 0;
        previous = block;
    }
    return rises > count / 6 && rises < count - count / 6;
}

bool zero_size() {
    flip(take(0));
    return false;
}

bool guards() {
    char* const block = take(300'000);
    give(block);
    flip(block);
    return false;
}

/// In a process that has hardly allocated, no other ranges are as small: those that a heap reserves have megabytes.
bool records() { return guard_count(std::size_t{16} << 10) > 0; }

bool sampled_guards() {
    constexpr int calls = 200'000; // one in 5000 is guarded; the records of the others need a few guard pages
    constexpr std::size_t few = 15, everything = SIZE_MAX;
    const std::size_t before = guard_count(everything);
    for (int call = 0; call < calls; ++call) static_cast<void>(take(bytes));
    return guard_count(everything) > before + few;
}

struct sign {
    std::string_view name;
    bool (*shows)();
};
constexpr std::array<sign, 11> signs{{{"canary", canary},
                                      {"front", front},
                                      {"form", form},
                                      {"size", sized},
                                      {"fill", fill},
                                      {"quarantine", quarantine},
                                      {"shuffle", shuffled},
                                      {"zero_size", zero_size},
                                      {"guards", guards},
                                      {"records", records},
                                      {"sampled guards", sampled_guards}}};

/// Whether a child process sees the sign, or is ended by it.
bool shows_in_child(const sign& each) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_DUMPABLE, 0); // no core file
        const int nothing = ::open("/dev/null", O_WRONLY);
        ::dup2(nothing, STDERR_FILENO); // the reports
        ::_exit(each.shows() ? 1 : 0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return false;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}

std::string seen_mitigations() {
    std::string names;
    for (const sign& each : signs) {
        if (!shows_in_child(each)) continue;
        if (!names.empty()) names += ", ";
        names += each.name;
    }
    return names.empty() ? "none" : names;
}

}
