// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/folded.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "observe/watch/blame.hpp"

namespace tenure::lab {

namespace {

/// A name without the characters that separate names and lines; never empty.
std::string cleaned(std::string_view name) {
    constexpr unsigned char first_letter = 0x20, removed = 0x7f;
    std::string text;
    for (const char letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte < first_letter || byte == removed) {
            text += ' ';
        } else {
            text += letter == ';' ? ':' : letter;
        }
    }
    return text.empty() ? "?" : text;
}

std::string line_of(std::string_view region, const watched_site& site) {
    std::string line = cleaned(region);
    for (auto frame = site.stack.rbegin(); frame != site.stack.rend(); ++frame) {
        line += ';';
        line += cleaned(readable(shown(*frame)));
    }
    line += ';';
    return line + cleaned(what_happens(site));
}

double value_of(const watched_site& site, folded_value value) {
    return value == folded_value::count ? static_cast<double>(site.count) : cost_of(site);
}

}

std::string to_folded(const findings& found, folded_value value) {
    std::set<std::uint32_t> processes;
    for (const watched_region& region : found.regions) processes.insert(region.process);
    std::map<std::string, double> lines;
    for (const watched_region& region : found.regions) {
        const std::string name =
            processes.size() > 1 ? fmt::format("{} (process {})", region.name, region.process) : region.name;
        for (const watched_site& site : region.stacks) {
            const double add = value_of(site, value);
            if (add > 0 && std::isfinite(add)) lines[line_of(name, site)] += add;
        }
    }
    std::string text;
    for (const auto& [line, sum] : lines) {
        if (sum >= 0.5) text += fmt::format("{} {:.0f}\n", line, sum);
    }
    return text;
}

}
