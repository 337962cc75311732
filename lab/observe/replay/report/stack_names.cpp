// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A stack is named as the heap profile names its own: as a profile with one call stack.

#include "observe/replay/report/stack_names.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "observe/profile/named_profile.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

namespace {

std::string words_of(const profile_frame& frame) {
    std::string text;
    for (const named_frame& each : frame.functions) {
        if (!text.empty()) text += ", in ";
        text += shown(each);
        if (!each.file.empty())
            text += fmt::format(" at {}:{}", std::filesystem::path(each.file).filename().string(), each.line);
    }
    return text.empty() ? fmt::format("{:#x}", frame.address) : text;
}

}

const std::vector<std::string>& stack_names::of(std::uint32_t stack) {
    const auto [entry, is_new] = known_.try_emplace(stack);
    if (!is_new || stack == 0 || stack >= recorded_.stacks.size()) return entry->second;
    saved_profile one;
    one.frames = recorded_.stacks[stack].frames;
    one.header.process = recorded_.process;
    profile_format::site site{};
    site.frame_count = static_cast<std::uint32_t>(one.frames.size());
    one.sites.push_back(site);
    for (const trace_mapping& each : recorded_.mappings)
        one.mappings.push_back({each.begin, each.end, each.file_offset, each.path, true, each.build_id});
    const named_profile named = name_profile(one, names_);
    const std::size_t hidden = one.frames.size() - std::min(one.frames.size(), named.stacks.front().frames.size());
    entry->second.resize(hidden);
    for (const profile_frame& each : named.stacks.front().frames) entry->second.push_back(words_of(each));
    return entry->second;
}

}
