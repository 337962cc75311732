// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/report/pins_text.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "observe/profile/report/profile_text.hpp"
#include "report/letters.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

[[nodiscard]] std::string share_of(double part, double whole) {
    return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string{"–"};
}

/// When the file was saved.
[[nodiscard]] std::string_view moment_of(profile_format::occasion written_at) {
    switch (written_at) {
    case profile_format::occasion::exit: return " at the program's end";
    case profile_format::occasion::peak: return " at a peak of what is in use";
    default: return "";
    }
}

[[nodiscard]] std::string parts_text(const named_profile& profile, const pinned_memory& pinned) {
    constexpr std::size_t most_others = 6;
    constexpr double notable = 0.01;
    const auto whole = static_cast<double>(pinned.parts.resident);
    std::string text =
        fmt::format("memory of {} [{}]: {} resident{}\n", profile.program, profile.header.process, size_text(whole),
                    pinned.from_core.is_set ? " in its core file" : moment_of(profile.header.written_at));
    for (const memory_part& each : all_parts(pinned.parts, pinned.malloc_file)) {
        if (each.bytes == 0) continue;
        const auto bytes = static_cast<double>(each.bytes);
        text += fmt::format("  {:>8}  {:>7}  {}: {}\n", size_text(bytes), share_of(bytes, whole), each.name, each.note);
    }
    std::size_t shown = 0;
    for (const other_memory& each : pinned.others) {
        const auto bytes = static_cast<double>(each.resident_bytes);
        if (shown == most_others || bytes < notable * whole) break;
        ++shown;
        text += fmt::format("            {:>8}  of that: {}\n", size_text(bytes), elided(each.name, 60));
    }
    if (pinned.parts.unexplained != 0) {
        text += fmt::format(
            "  {:>8}  is counted otherwise by the kernel: pages that were only read, or changed meanwhile\n",
            size_text(static_cast<double>(pinned.parts.unexplained)));
    }
    if (pinned.rounding.samples != 0)
        text += fmt::format("blocks in use are larger than was asked for by {}\n", estimate_text(pinned.rounding));
    if (profile.header.lost_samples != 0) {
        text += fmt::format("{} had no memory for a record: what stacks hold is too low\n",
                            count_text(profile.header.lost_samples, "sample"));
    }
    const malloc_words about = words_about(pinned);
    if (!about.what.empty()) text += about.what + "\n";
    for (const std::string& each : about.unknown) text += each + "\n";
    return text;
}

}

bool has_stacks(const pinned_memory& pinned) { return !pinned.from_core.is_set || pinned.from_core.has_stacks; }

malloc_words words_about(const pinned_memory& pinned) {
    if (pinned.from_core.is_set) return {"Read from a core file.", pinned.from_core.unknown};
    if (pinned.malloc_file.empty()) return {};
    const std::string name = std::filesystem::path(pinned.malloc_file).filename().string();
    return {fmt::format("The program's own malloc ({}), known by the addresses and sizes of its blocks.", name),
            {"Which of its free memory this malloc caches, and when free pages go back, is not known.",
             "Its own records are not known: those in pages with blocks count as held by them, all others as not the "
             "heap's."}};
}

std::vector<memory_part> all_parts(const memory_parts& parts, std::string_view malloc_file) {
    if (!malloc_file.empty()) {
        return {
            {"live_bytes", "blocks in use", "with their rounding", parts.live},
            {"held_bytes", "held by blocks in use",
             "free, cached or this malloc's records, in pages that these blocks keep from going back", parts.held},
            {"free_bytes", "without a block in use", "pages that have had blocks: free or cached", parts.waiting},
            {"other_bytes", "not the heap's", "code, stacks, other memory, this malloc's pages without blocks",
             parts.others},
        };
    }
    return {
        {"live_bytes", "blocks in use", "with their rounding", parts.live},
        {"held_bytes", "held by blocks in use", "free, in pages that these blocks keep from going back", parts.held},
        {"cached_bytes", "cached", "free blocks that threads keep", parts.cached},
        {"free_bytes", "free", "pages without a block in use; they go back after the purge delay", parts.waiting},
        {"slack_bytes", "room behind huge blocks", "touched by an earlier, larger use", parts.slack},
        {"record_bytes", "records", "the heap's own", parts.records},
        {"other_bytes", "not the heap's", "code, stacks, other allocators", parts.others},
    };
}

std::size_t stacks_that_hold(const pinned_memory& pinned) {
    constexpr double least = 0.5; // less is shown as 0 B
    const auto holds_nothing = [](const pinning_stack& each) { return each.held.bytes < least; };
    const auto end = std::find_if(pinned.stacks.begin(), pinned.stacks.end(), holds_nothing);
    return static_cast<std::size_t>(end - pinned.stacks.begin());
}

std::string sentence_of(const pinning_stack& stack, bool is_exact) {
    const double blocks = std::max(std::round(stack.live.blocks), 1.0);
    const bool is_one = blocks == 1;
    return fmt::format("{} {} ({}) {} {} of pages; freed, {} give{} back {}{}", short_text(blocks),
                       is_one ? "block" : "blocks", size_text(stack.live.bytes), is_one ? "holds" : "hold",
                       estimate_text(stack.held), is_one ? "it" : "they", is_one ? "s" : "",
                       is_exact ? "" : "at least about ", estimate_text(stack.alone));
}

std::string advice_for(const pinning_stack& stack, const pinned_memory& pinned) {
    constexpr double notable = 0.05; // of the resident memory
    const double saved = stack.alone.bytes - stack.live.bytes;
    if (saved < notable * static_cast<double>(pinned.parts.resident) || saved < stack.live.bytes) return {};
    return fmt::format("in pages of their own ({}) they would take {} and not {}: saves {}",
                       pinned.malloc_file.empty() ? "an owner tag, a pool" : "a pool, an arena",
                       size_text(stack.live.bytes), size_text(stack.alone.bytes), size_text(saved));
}

std::string to_text(const named_profile& profile, const pinned_memory& pinned, const pins_choice& choice) {
    std::string text = parts_text(profile, pinned);
    if (!has_stacks(pinned)) return text;
    const auto whole = static_cast<double>(pinned.parts.held);
    text += fmt::format("\n  #  of the {} held, by call stack\n", size_text(whole));
    const std::size_t holding = stacks_that_hold(pinned);
    std::size_t shown_stacks = 0;
    double rest = whole;
    for (const pinning_stack& each : pinned.stacks) {
        rest -= each.held.bytes;
        if (shown_stacks == std::min(choice.stacks, holding)) continue;
        ++shown_stacks;
        const profile_stack& stack = profile.stacks[each.stack];
        text += fmt::format("{:>3}  {}  {}{}; half older than {}\n", shown_stacks, share_of(each.held.bytes, whole),
                            sentence_of(each, pinned.is_exact),
                            stack.tag.empty() ? std::string{} : fmt::format("  [{}]", stack.tag),
                            age_text(stack.median_age_ms));
        if (const std::string advice = advice_for(each, pinned); !advice.empty())
            text += fmt::format("     {}\n", advice);
        text += frames_text(stack, choice.frames, choice.width);
    }
    if (pinned.stacks.empty()) text += "     no block in use was sampled\n";
    if (!pinned.stacks.empty() && holding == 0) text += "     no stack with a sample holds any of it\n";
    if (shown_stacks < holding) text += more_text(holding - shown_stacks);
    text += fmt::format("     the rest, {}: {}blocks of before the profile, and the error of sampling\n",
                        size_text(rest), pinned.malloc_file.empty() ? "cached blocks, " : "");
    text += pinned.is_exact ? "\nEvery block since the profile began was recorded.\n"
                            : "\n± is what 95 of 100 estimates are off by at most, by the chance of sampling.\n";
    return text;
}

}
