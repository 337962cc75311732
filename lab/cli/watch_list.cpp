// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/watch_list.hpp"

#include <array>
#include <set>
#include <string_view>

#include "hook/calls.hpp"
#include "report/text_grid.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t width = 100;

struct group_words {
    hook::call_group group;
    std::string_view words;
};
constexpr std::array<group_words, 10> groups{{
    {hook::call_group::allocation,
     "Allocation: how often, how much, how long, and whether it slept in a lock of the heap"},
    {hook::call_group::release, "Release, also of null pointers"},
    {hook::call_group::mapping, "Memory from the kernel"},
    {hook::call_group::lock, "Waits for other threads; a lock that is free is only counted"},
    {hook::call_group::runtime, "Waits in OpenMP's and TBB's libraries"},
    {hook::call_group::sleep, "Waits for time"},
    {hook::call_group::input, "Waits for files, sockets and processes"},
    {hook::call_group::format,
     "Formatting, timed: a long call in which the thread slept waited for a lock inside the C library"},
    {hook::call_group::stream, "stdio, timed: the same, for the lock of a file"},
    {hook::call_group::library, "Locks of locale, loader, time zones, random numbers and environment, timed"},
}};

constexpr std::string_view hidden = "What may hide: calls within the C library itself; functions that the compiler has "
                                    "inlined or left out (free of a null "
                                    "pointer, printf that became puts); a library that was opened with RTLD_DEEPBIND, "
                                    "or that brings a malloc of its own; "
                                    "system calls without the C library, as Go's; threads that spin without calling "
                                    "anything; and what runs on stacks of "
                                    "its own when --stacks is frames. Time that no call explains is reported as such, "
                                    "from what the kernel says about each "
                                    "thread.";

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
        wrapped(
            "Regions: parallel constructs of OpenMP (gcc's library, LLVM's by its interface for tools), algorithms of "
            "TBB "
            "and std::execution on it, threads that the program starts, functions by name (patched at their begin), "
            "tn_region_begin() to tn_region_end(), no-allocation scopes, the whole process.",
            width) +
        "\n\n" + wrapped(hidden, width) + "\n";
    return text;
}

}
