// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A stack is named as the heap profile names its own: as a profile with one call stack.

#include "observe/replay/report/stack_names.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "observe/profile/saved_profile.hpp"
#include "observe/symbols/short_names.hpp"

namespace tenure::lab {

namespace {

std::string words_of(const profile_frame& frame) {
    std::string text;
    for (const named_frame& each : frame.functions) {
        if (!text.empty()) text += ", in ";
        text += with_short_names(shown(each));
        if (!each.file.empty())
            text += fmt::format(" at {}:{}", std::filesystem::path(each.file).filename().string(), each.line);
    }
    return text.empty() ? fmt::format("{:#x}", frame.address) : text;
}

}

named_profile stack_names::name(const std::vector<std::uint64_t>& frames) {
    saved_profile one;
    one.frames = frames;
    one.header.process = recorded_.process;
    profile_format::site site{};
    site.frame_count = static_cast<std::uint32_t>(one.frames.size());
    one.sites.push_back(site);
    for (const trace_mapping& each : recorded_.mappings)
        one.mappings.push_back({each.begin, each.end, each.file_offset, each.path, true, each.build_id});
    return name_profile(one, names_);
}

const std::vector<std::string>& stack_names::of(std::uint32_t stack) {
    const auto [entry, is_new] = known_.try_emplace(stack);
    if (!is_new || stack == 0 || stack >= recorded_.stacks.size()) return entry->second;
    const std::vector<std::uint64_t>& frames = recorded_.stacks[stack].frames;
    const named_profile named = name(frames);
    const std::size_t hidden = frames.size() - std::min(frames.size(), named.stacks.front().frames.size());
    entry->second.resize(hidden);
    for (const profile_frame& each : named.stacks.front().frames) entry->second.push_back(words_of(each));
    return entry->second;
}

std::uint64_t stack_names::function_of(std::uint64_t return_address) {
    const auto [entry, is_new] = functions_.try_emplace(return_address, 0);
    if (!is_new) return entry->second;
    const named_profile named = name({return_address});
    if (named.stacks.empty() || named.stacks.front().frames.empty()) return 0;
    const std::vector<named_frame>& functions = named.stacks.front().frames.back().functions;
    // The last is the function itself, the others were inlined into it.
    if (functions.empty() || functions.back().start == 0) return 0;
    // A name is not enough: each file of a program may have a function that is called run().
    const std::pair begin{functions.back().module, functions.back().start};
    entry->second = numbers_.try_emplace(begin, numbers_.size() + 1).first->second;
    return entry->second;
}

}
