// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/affinity/affinity_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/json/json_text.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t max_untouched = 8; ///< that are shown as text

[[nodiscard]] std::string site_in_words(const block_group& site, const place_names& names) {
    const std::vector<std::string> frames = frames_in_words(site, names);
    std::string text = place_in_words(site, names);
    if (frames.size() > 1 && !frames[1].starts_with("(from")) text += ", called by " + frames[1];
    if (site.stack == 0) return text;
    return fmt::format("{}: {} of {}", text, count_in_words(site.blocks.size(), "block"), sizes_in_words(site));
}

[[nodiscard]] std::string percent(double share) { return share_text(share); }

[[nodiscard]] std::string accesses_in_words(std::uint64_t count) {
    return fmt::format("{} {}", count, count == 1 ? "access" : "accesses");
}

[[nodiscard]] pair_figures all_of(const site_pair& of) {
    pair_figures all = of.learned;
    all.add(of.checked);
    return all;
}

/// What was allowed for the reports of the accesses in between.
[[nodiscard]] std::string allowance_in_words(const pair_figures& of) {
    if (of.widest_ns <= together_ns) return {};
    return fmt::format(" and up to {} us more, in which the accesses between them were reported",
                       (of.widest_ns - together_ns) / 1000);
}

[[nodiscard]] std::string evidence(const advised_affinity& of) {
    pair_figures all, crossed, checked;
    for (const site_pair& each : of.pairs) {
        all.add(all_of(each));
        checked.add(each.checked);
        crossed.add(each.crossed);
    }
    std::string text =
        fmt::format("Touched together: of {} of {}, {} were within {} us of an access of the other block on the "
                    "same thread{}. Chance explains {}",
                    accesses_in_words(all.accesses), count_in_words(all.pairs, "pair"), percent(all.near_share()),
                    together_ns / 1000, allowance_in_words(all), percent(all.chance_share()));
    if (crossed.accesses != 0)
        text += fmt::format(", and of blocks of the same call sites that are no pair {} were",
                            percent(crossed.near_share()));
    return text + ".";
}

[[nodiscard]] std::string learned(const advised_affinity& of) {
    std::uint64_t learned_pairs = 0, checked_pairs = 0;
    for (const site_pair& each : of.pairs) {
        learned_pairs += each.learned.pairs;
        checked_pairs += each.checked.pairs;
    }
    return fmt::format("Confidence {}: learned on {}, checked on {} more.", name_of(of.degree),
                       count_in_words(learned_pairs, "pair"), checked_pairs);
}

[[nodiscard]] std::string saving_of_group(const affinity_saving& of) {
    return fmt::format(
        "In a replay, {:.0f} pairs: at most 64 bytes apart {:.0f} -> {:.0f} %, in the same page {:.0f} -> {:.0f} %, "
        "median distance {} -> {}. To read both blocks of a pair takes {:.1f} -> {:.1f} ns in order of allocation, "
        "{:.1f} -> {:.1f} ns in random order ({:+.1f} % [{:+.1f} to {:+.1f}]), with caches that are warm. The calls "
        "take {:+.1f} % [{:+.1f} to "
        "{:+.1f}] on a new heap; peak resident {:.1f} -> {:.1f} MiB. {} rounds.",
        of.pairs, of.recorded.close, of.advised.close, of.recorded.same_page, of.advised.same_page,
        bytes_in_words(of.recorded.distance), bytes_in_words(of.advised.distance), of.recorded.visit_ns,
        of.advised.visit_ns, of.recorded.shuffled_ns, of.advised.shuffled_ns, (of.visit_ratio.median - 1) * 100,
        (of.visit_ratio.low - 1) * 100, (of.visit_ratio.high - 1) * 100, (of.time_ratio.median - 1) * 100,
        (of.time_ratio.low - 1) * 100, (of.time_ratio.high - 1) * 100, of.recorded_peak_mib, of.advised_peak_mib,
        of.visit_ratio.rounds);
}

/// The lines to write.
[[nodiscard]] code_lines lines_of(const advised_affinity& of) {
    const bool has_threads = std::any_of(of.sites.begin(), of.sites.end(), [](const auto& site) {
        return site->threads > 1 || site->same_thread_share < 1;
    });
    const bool is_zeroed =
        std::any_of(of.sites.begin(), of.sites.end(), [](const auto& site) { return site->zeroed != 0; });
    const std::string_view cpp_threads = has_threads ? ", {.threads = tenure::sharing::any_thread}" : "";
    const std::string_view csharp =
        has_threads ? "new AffinityGroup(new AffinityGroupOptions { Name = \"visited\", AnyThread = true })"
                    : "new AffinityGroup(\"visited\")";
    return {
        fmt::format("tenure::affinity_group visited{{\"visited\"{}}}; … void* block = visited.allocate(bytes);{} … "
                    "visited.deallocate(block, bytes); // at {}",
                    cpp_threads, is_zeroed ? " std::memset(block, 0, bytes);" : "",
                    of.sites.size() > 1 ? "all of these call sites" : "this call site"),
        fmt::format("var visited = {}; … void* block = visited.Allocate(bytes);{} … visited.Deallocate(block, bytes);",
                    csharp, is_zeroed ? " NativeMemory.Clear(block, bytes);" : "")};
}

[[nodiscard]] affinity_words words_of_group(const advised_affinity& of, std::size_t number, const place_names& names) {
    affinity_words made;
    made.title = fmt::format("Accesses {}. {}", number,
                             of.sites.size() > 1 ? fmt::format("{} call sites", of.sites.size())
                                                 : std::string("blocks of one call site"));
    for (const auto& site : of.sites) made.frames.push_back(site_in_words(*site, names));
    made.lines.push_back(evidence(of));
    if (of.is_advised()) {
        made.lines.push_back("Use an affinity group: the pairs then lie together.");
        const code_lines lines = lines_of(of);
        made.lines.push_back("C++: " + lines.cpp);
        made.lines.push_back("C#:  " + lines.csharp);
    } else {
        made.lines.push_back(fmt::format("Leave alone: {}.", of.reason));
    }
    made.lines.push_back(learned(of));
    if (of.saving.error.empty() && of.saving.pairs != 0) made.lines.push_back(saving_of_group(of.saving));
    return made;
}

[[nodiscard]] affinity_words words_of_untouched(const affinity_report& found, const place_names& names) {
    affinity_words made;
    made.title = "Untouched while they were watched";
    for (const untouched_site& each : found.untouched) {
        if (made.frames.size() == max_untouched) break;
        made.frames.push_back(
            fmt::format("{}, at most {} in use: {} of {} watched blocks were touched, in {} in all; at most {:.1f} % "
                        "are, with 95 % confidence",
                        site_in_words(*each.site, names), bytes_in_words(static_cast<double>(each.site->peak_bytes)),
                        each.touches.touched, each.touches.watched, time_in_words(each.touches.watched_ns),
                        each.touches.most_touched_share() * 100));
    }
    made.lines.push_back(
        "Keep such blocks away from those that are visited, in a group or an arena of their own; or ask "
        "whether they are needed. 8 bytes of a block are watched for some milliseconds, in which the program runs: "
        "what "
        "is touched seldom, or elsewhere in the block, looks untouched.");
    return made;
}

[[nodiscard]] json json_of(const pair_figures& of) {
    return {{"pairs", of.pairs},
            {"near_pairs", of.near_pairs},
            {"accesses", of.accesses},
            {"near", of.near},
            {"near_by_chance", json_number(of.by_chance)},
            {"longest_allowed_ns", of.widest_ns}};
}

[[nodiscard]] json json_of(const pair_placement& of) {
    return {{"close_percent", json_number(of.close)},
            {"same_page_percent", json_number(of.same_page)},
            {"median_distance", json_number(of.distance)},
            {"visit_ns", json_number(of.visit_ns)},
            {"visit_shuffled_ns", json_number(of.shuffled_ns)}};
}

[[nodiscard]] json json_of_estimate(const paired_estimate& of) {
    return {{"median", json_number(of.median)},
            {"low", json_number(of.low)},
            {"high", json_number(of.high)},
            {"rounds", of.rounds}};
}

[[nodiscard]] json json_of(const block_group& site, const place_names& names) {
    return {{"stack", site.stack == 0 ? json::array() : json(frames_in_words(site, names))},
            {"blocks", site.blocks.size()},
            {"smallest", site.smallest},
            {"largest", site.largest},
            {"peak_bytes", site.peak_bytes}};
}

[[nodiscard]] json json_of(const affinity_saving& of) {
    if (!of.error.empty()) return {{"error", of.error}};
    return {{"pairs", json_number(of.pairs)},
            {"recorded", json_of(of.recorded)},
            {"advised", json_of(of.advised)},
            {"visit_shuffled_ratio", json_of_estimate(of.visit_ratio)},
            {"first_replay_ratio", json_of_estimate(of.time_ratio)},
            {"recorded_peak_mib", json_number(of.recorded_peak_mib)},
            {"advised_peak_mib", json_number(of.advised_peak_mib)},
            {"is_proven", of.is_proven()}};
}

[[nodiscard]] json json_of(const advised_affinity& of, const place_names& names) {
    json made{{"advice", of.is_advised() ? "affinity group" : "leave alone"}};
    made["sites"] = array_of(of.sites, [&](const auto& site) { return json_of(*site, names); });
    made["confidence"] = name_of(of.degree);
    pair_figures all_learned, all_checked, crossed;
    for (const site_pair& each : of.pairs) {
        all_learned.add(each.learned);
        all_checked.add(each.checked);
        crossed.add(each.crossed);
    }
    made["learned"] = json_of(all_learned);
    made["checked"] = json_of(all_checked);
    made["blocks_of_different_pairs"] = json_of(crossed);
    made["saving"] = json_of(of.saving);
    if (!of.is_advised()) {
        made["reason"] = of.reason;
        return made;
    }
    const code_lines lines = lines_of(of);
    made["cpp"] = lines.cpp;
    made["csharp"] = lines.csharp;
    return made;
}

}

std::vector<affinity_words> words_of(const affinity_report& found, const place_names& names) {
    std::vector<affinity_words> made;
    if (found.windows == 0) return made;
    for (std::size_t index = 0; index < found.groups.size(); ++index)
        made.push_back(words_of_group(found.groups[index], index + 1, names));
    if (!found.untouched.empty()) made.push_back(words_of_untouched(found, names));
    made.push_back({{},
                    {},
                    {fmt::format("Accesses: {} were watched, up to four at a time, in {} of {} in all. {} of call "
                                 "sites had blocks that were touched in the same window{}.",
                                 count_in_words(found.watched_blocks, "block"), count_in_words(found.windows, "window"),
                                 time_in_words(found.watched_ns), count_in_words(found.looked_at, "pair"),
                                 found.groups.empty() ? "; none of them together" : "")}});
    return made;
}

json to_json(const affinity_report& found, const place_names& names) {
    json made{{"windows", found.windows},
              {"watched_ns", found.watched_ns},
              {"watched_blocks", found.watched_blocks},
              {"accesses", found.accesses},
              {"pairs_of_sites", found.looked_at}};
    made["groups"] = array_of(found.groups, [&](const advised_affinity& each) { return json_of(each, names); });
    made["untouched"] = array_of(found.untouched, [&](const untouched_site& each) {
        json one = json_of(*each.site, names);
        one["watched"] = each.touches.watched;
        one["touched"] = each.touches.touched;
        one["most_touched_share"] = json_number(each.touches.most_touched_share());
        one["watched_ns"] = each.touches.watched_ns;
        return one;
    });
    return made;
}

}
