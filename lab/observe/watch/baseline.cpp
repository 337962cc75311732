// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/baseline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "observe/watch/blame.hpp"

namespace tenure::lab {

namespace {

using hook::call_group;

constexpr std::string_view head = "# tenure watch baseline ";
constexpr std::string_view version = "1";
constexpr std::array<std::string_view, 4> kind_words{"allocation", "wait", "free", "lock"};

constexpr std::string_view about = R"(#
# Known places in parallel regions that allocate, wait, free or, in a no-wait scope, lock. `tenure watch --fail-on
# allocation,wait --baseline FILE` fails only for other places. `tenure watch --write-baseline FILE` writes this file
# again. If you delete a line, its place fails again. Words are separated by tabs: kind, region, call, function, file.
)";

bool is_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char letter) { return letter >= '0' && letter <= '9'; });
}

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether an optimiser appends the suffix, such as ".isra.0", ".constprop.1" or ".cold": another inlining decision
/// would change it. OpenMP's "._omp_fn.0" stays, because it distinguishes the regions of a function.
bool is_optimisers(std::string_view suffix) {
    constexpr std::array<std::string_view, 6> names{"isra", "constprop", "part", "cold", "lto_priv", "llvm"};
    const std::size_t dot = suffix.find('.');
    const std::string_view number = dot == std::string_view::npos ? std::string_view{} : suffix.substr(dot + 1);
    return std::find(names.begin(), names.end(), suffix.substr(0, dot)) != names.end() && is_digits(number);
}

/// Removes such suffixes ("name.number" or "name", with the dot before it) from the end of `text`; from "x.a.0.b.1" it
/// can remove ".b.1".
std::string without_suffixes(std::string text) {
    for (;;) {
        std::size_t dot = text.rfind('.');
        if (dot != std::string::npos && is_digits(std::string_view(text).substr(dot + 1)) && dot > 0) {
            const std::size_t before = text.rfind('.', dot - 1);
            if (before != std::string::npos) dot = before;
        }
        if (dot == std::string::npos || !is_optimisers(std::string_view(text).substr(dot + 1))) return text;
        text.resize(dot);
    }
}

/// The same for a demangler's spelling: "draw(int) [clone .isra.0] [clone .cold]".
std::string without_clones(std::string text) {
    constexpr std::string_view opening = " [clone .";
    for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
        const std::size_t begin = at + opening.size();
        const std::size_t end = text.find(']', begin);
        if (end == std::string::npos) break;
        if (is_optimisers(std::string_view(text).substr(begin, end - begin))) {
            text.erase(at, end + 1 - at);
        } else {
            at = end;
        }
    }
    return text;
}

/// A name as a baseline stores it: without addresses, and without the characters that separate words and lines.
std::string robust(std::string_view name) {
    constexpr unsigned char first_letter = 0x20;
    std::string text = without_suffixes(without_clones(std::string{name}));
    for (char& letter : text) {
        if (static_cast<unsigned char>(letter) < first_letter) letter = ' ';
    }
    const std::size_t hex = text.rfind("0x");
    if (hex != std::string::npos && is_hex(std::string_view(text).substr(hex + 2))) {
        if (hex == 0) return "?";
        if (text[hex - 1] == '+') text.resize(hex - 1); // "game+0x12af"
    }
    return text;
}

site_name name_of(site_kind kind, const watched_region& region, const watched_site& site) {
    // A word at the end of a line is never empty, because editors remove trailing blanks.
    site_name name{kind, robust(region.name), hook::info(site.call).name, "?", "?"};
    if (site.blamed >= site.stack.size()) return name;
    const named_frame& frame = site.stack[site.blamed];
    if (!frame.function.empty()) name.function = robust(frame.function);
    const std::filesystem::path file(frame.file.empty() ? frame.module : frame.file);
    if (file.has_filename()) name.place = robust(file.filename().string());
    return name;
}

bool is_free(const watched_site& site) { return hook::info(site.call).group == call_group::release && site.count > 0; }

bool is_allocation(const watched_site& site) {
    const call_group group = hook::info(site.call).group;
    return (group == call_group::allocation || group == call_group::mapping) && site.count > 0;
}

/// The total time that each place of a region waits.
std::map<site_name, double> waits_of(const watched_region& region) {
    std::map<site_name, double> waits;
    for (const watched_site& site : region.sites) {
        if (site.waits > 0) waits[name_of(site_kind::wait, region, site)] += site.wait_ns;
    }
    return waits;
}

baseline sites_of(const findings& found, judged_kinds kinds, wait_threshold threshold) {
    baseline sites;
    for (const watched_region& region : found.regions) {
        const bool is_promised = region.kind == hook::region_kind::no_wait;
        for (const watched_site& site : region.sites) {
            if (kinds.allocation && is_allocation(site)) sites.insert(name_of(site_kind::allocation, region, site));
            if (kinds.free && is_free(site)) sites.insert(name_of(site_kind::free, region, site));
            if (kinds.lock && is_promised && is_lock(site)) sites.insert(name_of(site_kind::lock, region, site));
        }
        if (!kinds.wait) continue;
        const double least = is_promised ? -1 : std::max(threshold.ns, threshold.share * region.time.total_ns);
        for (const auto& [name, ns] : waits_of(region)) {
            if (ns > least) sites.insert(name);
        }
    }
    return sites;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
        words.push_back(line.substr(0, tab));
        line.remove_prefix(tab + 1);
    }
    words.push_back(line);
    return words;
}

/// Returns   the error in a line; empty when there is none.
std::string read_line(std::string_view line, baseline& into) {
    if (line.starts_with(head)) {
        if (line.substr(head.size()) == version) return {};
        return fmt::format("a baseline of format {}; this command reads format {}", line.substr(head.size()), version);
    }
    if (line.empty() || line.front() == '#') return {};
    const std::vector<std::string_view> words = words_of(line);
    constexpr std::size_t expected = 5;
    if (words.size() != expected) {
        return fmt::format(
            "{} words separated by tabs are expected (kind, region, call, function, file), but there {} {}", expected,
            words.size() == 1 ? "is" : "are", words.size());
    }
    const auto kind = std::find(kind_words.begin(), kind_words.end(), words[0]);
    if (kind == kind_words.end())
        return fmt::format("the first word must be allocation, wait, free or lock, not \"{}\"", words[0]);
    if (words[2].empty()) return "the third word, the call, is empty";
    into.insert({static_cast<site_kind>(kind - kind_words.begin()), std::string{words[1]}, std::string{words[2]},
                 std::string{words[3]}, std::string{words[4]}});
    return {};
}

}

std::string shown(const site_name& site) {
    std::string text =
        fmt::format("{} in {} by {}", kind_words[static_cast<std::size_t>(site.kind)], site.call, site.function);
    if (site.place != "?") text += fmt::format(" ({})", site.place);
    return text + fmt::format(", region {}", site.region);
}

std::string write_baseline(const findings& found) {
    std::string text = fmt::format("{}{}\n{}", head, version, about);
    for (const site_name& site : sites_of(found, {true, true, true, true}, {-1, -1})) {
        text += fmt::format("{}\t{}\t{}\t{}\t{}\n", kind_words[static_cast<std::size_t>(site.kind)], site.region,
                            site.call, site.function, site.place);
    }
    return text;
}

baseline read_baseline(std::string_view text, std::string& error) {
    baseline known;
    error.clear();
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1); // from a checkout that converts line ends
        const std::string wrong = read_line(line, known);
        if (wrong.empty()) continue;
        error = fmt::format("line {}: {}", number, wrong);
        return {};
    }
    return known;
}

std::vector<site_name> new_sites(const findings& found, const baseline& known, judged_kinds kinds,
                                 wait_threshold threshold) {
    const baseline here = sites_of(found, kinds, threshold);
    std::vector<site_name> fresh;
    std::set_difference(here.begin(), here.end(), known.begin(), known.end(), std::back_inserter(fresh));
    return fresh;
}

}
