// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/blame.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "observe/watch/findings.hpp"

namespace tenure::lab {

namespace {

bool is_system_module(std::string_view path) {
    constexpr std::array<std::string_view, 12> names{
        "libc.so",    "libstdc++.so", "libc++.so", "libgcc_s.so",        "ld-linux",      "libm.so",
        "libgomp.so", "libomp.so",    "libtbb.so", "libtenure_watch.so", "libpthread.so", "libiomp5.so"};
    const std::string file = std::filesystem::path(path).filename().string();
    for (const std::string_view each : names) {
        if (file.starts_with(each)) return true;
    }
    return false;
}

/// Whether the function is a template of the C++ library or a runtime, compiled into the program.
bool is_system_function(const named_frame& frame) {
    std::string_view name = frame.function;
    constexpr std::array<std::string_view, 6> begins{"std::", "__gnu_cxx::", "__gthread",
                                                     "tbb::", "__pstl::",    "operator new"};
    for (const std::string_view each : begins) {
        if (name.starts_with(each)) return true;
    }
    // In "void std::__invoke<…>(…)" the result type precedes the name.
    const std::size_t open = name.find_first_of("(<");
    const std::size_t space = name.substr(0, open).rfind(' ');
    if (space != std::string_view::npos) {
        name.remove_prefix(space + 1);
        for (const std::string_view each : begins) {
            if (name.starts_with(each)) return true;
        }
    }
    return frame.file.find("/include/c++/") != std::string::npos ||
           frame.file.find("/include/tbb/") != std::string::npos ||
           frame.file.find("/include/oneapi/") != std::string::npos;
}

/// Whether the function is Tenure's: it is in a namespace with a version, or its name begins with tn_.
bool is_tenures_function(const named_frame& frame) {
    const std::string_view name = frame.function;
    constexpr std::string_view space = "tenure::v";
    const std::size_t found = name.substr(0, name.find_first_of("(<")).find(space);
    const bool begins = found == 0 || (found != std::string_view::npos && name[found - 1] == ' ');
    return begins || name.starts_with("tn_");
}

}

bool is_programs_own(const named_frame& frame) {
    return !is_system_module(frame.module) && !is_system_function(frame) && !is_tenures_function(frame);
}

std::size_t blamed_frame(const std::vector<named_frame>& stack) {
    for (std::size_t index = 0; index < stack.size(); ++index) {
        if (is_programs_own(stack[index])) return index;
    }
    return 0;
}

bool is_of_tenure(const std::vector<named_frame>& stack) {
    for (const named_frame& each : stack) {
        if (is_tenures_function(each)) return true;
        if (is_programs_own(each)) return false;
    }
    return false;
}

std::string readable(std::string_view function) {
    // std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()
    constexpr std::string_view invoker = "_Invoker<std::tuple<";
    const std::size_t found = function.find(invoker);
    const bool is_thread = function.find("_State_impl") != std::string_view::npos ||
                           function.find("_Async_state_impl") != std::string_view::npos;
    if (is_thread && found != std::string_view::npos) {
        std::string_view inside = function.substr(found + invoker.size());
        std::size_t depth = 0;
        for (std::size_t index = 0; index < inside.size(); ++index) {
            const char letter = inside[index];
            if (letter == '<' || letter == '(' || letter == '{') ++depth;
            if (letter == ')' || letter == '}') --depth;
            if (letter == '>') {
                if (depth == 0) return std::string{inside.substr(0, inside.find_last_not_of(' ', index - 1) + 1)};
                --depth;
            }
        }
    }
    constexpr std::size_t longest = 100;
    return function.size() <= longest ? std::string{function} : fmt::format("{}…", function.substr(0, longest - 1));
}

double cost_of(const watched_site& site) {
    const hook::call_group group = hook::info(site.call).group;
    const bool counts_whole = group == hook::call_group::allocation || group == hook::call_group::release ||
                              group == hook::call_group::mapping;
    return counts_whole ? site.ns - site.interrupted_ns : site.wait_ns;
}

std::string what_happens(const watched_site& site) {
    const hook::call_info& about = hook::info(site.call);
    const bool is_free_lock =
        site.waits == 0 && (about.group == hook::call_group::lock || about.group == hook::call_group::runtime);
    if (site.is_wait && is_free_lock) return fmt::format("takes a free lock in {}", about.name);
    if (site.is_wait) {
        const std::string object = site.object.empty() ? "" : fmt::format(" {}", site.object);
        switch (about.group) {
        case hook::call_group::lock: return fmt::format("waits in {}{}", about.name, object);
        case hook::call_group::sleep: return fmt::format("sleeps in {}", about.name);
        case hook::call_group::input: return fmt::format("waits for input or output in {}", about.name);
        default: return fmt::format("waits for other threads in {}{}", about.name, object);
        }
    }
    // Few waits that take less than a fiftieth of the time do not prove a lock; the kernel may have put the thread to
    // sleep.
    const bool waits_in_it = site.waits > 0 && site.wait_ns * 50 >= site.ns;
    if (!waits_in_it) {
        if (site.null_frees == site.count && site.count > 0) return fmt::format("{} of a null pointer", about.name);
        return site.is_tenures ? fmt::format("{}, through Tenure", about.name) : std::string{about.name};
    }
    switch (about.group) {
    case hook::call_group::allocation:
    case hook::call_group::release: return fmt::format("{}, which waits for a lock of the heap", about.name);
    case hook::call_group::stream: return fmt::format("{}, which waits for its file's lock", about.name);
    case hook::call_group::format: return fmt::format("{}, which waits for a lock inside the C library", about.name);
    case hook::call_group::mapping:
        return fmt::format("{}, which waits for the kernel's lock of the address space", about.name);
    default: return fmt::format("{}, which waits for a lock of the C library", about.name);
    }
}

bool is_lock(const watched_site& site) {
    const hook::call_group group = hook::info(site.call).group;
    const bool locks = group == hook::call_group::lock || group == hook::call_group::runtime ||
                       group == hook::call_group::stream || group == hook::call_group::library ||
                       group == hook::call_group::sleep;
    return locks && site.count > 0;
}

bool breaks_no_wait(const watched_site& site) {
    const hook::call_group group = hook::info(site.call).group;
    const bool is_memory = group == hook::call_group::allocation || group == hook::call_group::release ||
                           group == hook::call_group::mapping;
    return is_lock(site) || site.waits > 0 || (is_memory && site.count > 0);
}

}
