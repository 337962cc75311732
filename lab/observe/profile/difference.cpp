// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "observe/profile/pprof/pprof_file.hpp"
#include "observe/profile/report/profile_text.hpp"
#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

compared_profile load_compared(const std::string& path, symbols& names) {
    compared_profile found;
    file_text file = read_file(path, max_profile_bytes);
    if (!file.ok()) {
        found.error = fmt::format("{} {}", path, file.error);
        return found;
    }
    found.is_pprof = is_gzipped(file.text);
    if (found.is_pprof) {
        pprof_profile read = read_pprof(file.text);
        found.profile = std::move(read.profile);
        if (!read.ok()) found.error = fmt::format("{}: {}", path, read.error);
    } else {
        const saved_profile saved = read_profile(file.text);
        if (saved.ok()) {
            found.profile = name_profile(saved, names);
        } else {
            found.error = fmt::format("{}: {}", path, saved.error);
        }
    }
    return found;
}

double stack_change::error() const { return std::hypot(error_of(before), error_of(after), unseen); }

double unseen_bytes(std::uint64_t mean_bytes, const profile_format::estimate& other) {
    constexpr double means = 3;
    const double most = means * static_cast<double>(mean_bytes);
    return other.bytes > most * other.blocks ? 0 : most;
}

std::vector<stack_change> difference_of(const named_profile& before, const named_profile& after, profile_value value) {
    std::map<std::string, stack_change> changes;
    for (const bool is_after : {true, false}) {
        for (const profile_stack& stack : (is_after ? after : before).stacks) {
            stack_change& change = changes[fmt::format("{}\n{}", stack.tag, fmt::join(path_of(stack), "\n"))];
            if (change.shown == nullptr) change.shown = &stack;
            add(is_after ? change.after : change.before, stack.*value);
        }
    }
    std::vector<stack_change> found;
    for (auto& [key, change] : changes) {
        const bool is_before = change.before.samples != 0, is_after = change.after.samples != 0;
        if (!is_before && !is_after) continue;
        if (!is_before) change.unseen = unseen_bytes(before.header.mean_bytes, change.after);
        if (!is_after) change.unseen = unseen_bytes(after.header.mean_bytes, change.before);
        found.push_back(change);
    }
    std::stable_sort(found.begin(), found.end(), [](const stack_change& a, const stack_change& b) {
        return std::fabs(a.bytes()) > std::fabs(b.bytes());
    });
    return found;
}

std::string difference_text(const named_profile& before, const named_profile& after, profile_value value,
                            std::size_t stacks, std::size_t frames) {
    const profile_format::estimate &sum_before = total_of(before, value), &sum_after = total_of(after, value);
    const std::vector<stack_change> changes = difference_of(before, after, value);
    const auto signed_text = [](double bytes) { return (bytes < 0 ? "" : "+") + size_text(bytes); };
    std::string text = fmt::format("bytes {}: {} before, {} after, {}\n", word_of(value), estimate_text(sum_before),
                                   estimate_text(sum_after), signed_text(sum_after.bytes - sum_before.bytes));
    const std::size_t count = std::min(stacks, changes.size());
    for (std::size_t index = 0; index < count; ++index) {
        const stack_change& each = changes[index];
        const bool is_chance = std::fabs(each.bytes()) <= each.error();
        text += fmt::format("{:>3}  {} ± {}  ({} before, {} after){}\n", index + 1, signed_text(each.bytes()),
                            size_text(each.error()), size_text(each.before.bytes), size_text(each.after.bytes),
                            is_chance ? "; may be chance" : "");
        std::vector<std::string> path = path_of(*each.shown);
        std::reverse(path.begin(), path.end());
        for (std::size_t frame = 0; frame < std::min(frames, path.size()); ++frame)
            text += fmt::format("       {}{}\n", frame == 0 ? "" : "by ", elided(path[frame], 90));
    }
    if (changes.empty()) text += "     nothing was sampled in either\n";
    if (count < changes.size()) text += more_text(changes.size() - count);
    text += "\n± is what 95 of 100 differences are off by at most, by the chance of sampling. A stack without a "
            "sample in a file may have had up to 3 times the file's mean there.\n";
    if (before.header.mean_bytes == 0 || after.header.mean_bytes == 0)
        text += "A file does not say how often it sampled: its part of ± is not known, and is left out.\n";
    return text;
}

}
