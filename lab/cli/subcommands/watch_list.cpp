// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands/watch_list.hpp"

#include <array>
#include <set>
#include <string_view>

#include "observe/hook/interpose/calls.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t width = 100;

struct group_words {
    hook::call_group group;
    std::string_view words;
};
constexpr std::array<group_words, 10> groups{{
    {hook::call_group::allocation,
     "Allocation: number of calls, bytes, time, and whether the thread slept in a lock of the heap"},
    {hook::call_group::release, "Release, also of null pointers"},
    {hook::call_group::mapping, "Memory from the kernel"},
    {hook::call_group::lock, "Waits for other threads; acquiring a free lock is only counted"},
    {hook::call_group::runtime, "Waits inside the OpenMP and TBB libraries"},
    {hook::call_group::sleep, "Waits for time"},
    {hook::call_group::input, "Waits for files, sockets and processes"},
    {hook::call_group::format,
     "Formatting, timed: a long call in which the thread slept waited for a lock inside the C library"},
    {hook::call_group::stream, "stdio, timed: a long call in which the thread slept waited for the lock of a file"},
    {hook::call_group::library, "Locks of locale, loader, time zones, random numbers and environment, timed"},
}};

constexpr std::string_view hidden = "What can stay hidden: calls within the C library itself; functions that the "
                                    "compiler inlined or removed (free of a null pointer, printf that became puts); "
                                    "libraries opened with RTLD_DEEPBIND or with a malloc of their own; system "
                                    "calls that bypass the C library, as in Go; threads that spin without calling "
                                    "anything; code on stacks of its own when --stacks is frames. Time that no call "
                                    "explains is reported as such, based on what the kernel says about each thread.";

}

std::string list_of_calls() {
    std::string text;
    for (const group_words& each : groups) {
        std::string names;
        std::set<std::string_view> seen; // one name for both forms of a function
        for (const hook::call_info& about : hook::calls) {
            if (about.group != each.group || !seen.insert(about.name).second) continue;
            names += (names.empty() ? "" : ", ") + std::string{about.name};
        }
        text += std::string{each.words} + "\n" + wrapped("    " + names, width, 4) + "\n\n";
    }
    text +=
        wrapped("Regions: OpenMP parallel constructs (gcc's library; LLVM's through its tools interface), TBB "
                "algorithms and std::execution on top of TBB, threads that the program starts, functions by name "
                "(patched at their first instruction), tn_region_begin() to tn_region_end(), no-allocation scopes, the "
                "whole process.",
                width) +
        "\n\n" + wrapped(hidden, width) + "\n";
    return text;
}

}
