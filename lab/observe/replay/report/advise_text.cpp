// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/advise_text.hpp"

#include <fmt/format.h>

#include "observe/replay/affinity/affinity_text.hpp"
#include "report/numbers.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t max_frames = 8;

std::string head(const advice_report& found) {
    std::string text =
        fmt::format("{}, {} in all, at most {} at a time; {}, {}\n", count_in_words(found.blocks, "allocation"),
                    bytes_in_words(static_cast<double>(found.allocated_bytes)),
                    bytes_in_words(static_cast<double>(found.peak_bytes)), count_in_words(found.threads, "thread"),
                    count_in_words(found.events, "event"));
    for (const std::string& each : limits_in_words(found)) text += each + "\n";
    return text + "\n";
}

std::string clocks(const char* name, const std::string& p50, const std::string& p99, const std::string& longest) {
    return fmt::format("{} {} / {} / {}", name, p50, p99, longest);
}

std::string facts(const block_group& group, bool has_frames, const place_names& names) {
    std::string text =
        fmt::format("{} of {} ({} have {}), {} in all; at most {} in use ({}), {} at the end\n",
                    count_in_words(group.blocks.size(), "block"), sizes_in_words(group), share_text(group.common_share),
                    group.most_common, bytes_in_words(static_cast<double>(group.bytes)), group.peak_blocks,
                    bytes_in_words(static_cast<double>(group.peak_bytes)), group.left);
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    const auto bytes = [](std::uint64_t value) { return bytes_in_words(static_cast<double>(value)); };
    text += "lifetimes, half / 99 % / longest: " +
            clocks("events", number(group.events.p50), number(group.events.p99), number(group.events.longest)) + "; " +
            clocks("bytes allocated meanwhile", bytes(group.allocated.p50), bytes(group.allocated.p99),
                   bytes(group.allocated.longest)) +
            "; " +
            clocks("time", time_in_words(group.time_ns.p50), time_in_words(group.time_ns.p99),
                   time_in_words(group.time_ns.longest));
    if (has_frames)
        text +=
            "; " + clocks("frames", number(group.frames.p50), number(group.frames.p99), number(group.frames.longest));
    text += fmt::format("\nfreed by the allocating thread {}, youngest first {}, together {}",
                        share_text(group.same_thread_share), share_text(group.lifo_share),
                        share_text(group.together_share));
    if (group.resizes != 0)
        text += fmt::format("; reallocated: {}, {:.1f} times each", count_in_words(group.resized, "block"),
                            static_cast<double>(group.resizes) / static_cast<double>(group.resized));
    text += "\n";
    if (const std::string frees = frees_in_words(group, names); !frees.empty()) text += "freed in " + frees + "\n";
    return text;
}

std::string advice_lines(const advised_group& one, const place_names& names) {
    const lifetime_advice& advice = one.advice;
    if (advice.kind == advice_kind::leave_alone) return fmt::format("Leave alone: {}.\n", one.reason);
    std::string text = fmt::format("Use {}: {}.\n", with_article(advice.kind), advice.why);
    if (const std::string scope = scope_in_words(*one.group, advice, names); !scope.empty()) {
        text += fmt::format("{}: {}\n",
                            advice.kind == advice_kind::arena ? "clear it at the end of" : "open the scope in", scope);
        if (const std::string_view warning = scope_warning(advice); !warning.empty())
            text += fmt::format("{}\n", warning);
    }
    const code_lines lines = lines_for(*one.group, advice);
    text += fmt::format("C++: {}\nC#:  {}\n", lines.cpp, lines.csharp);
    text += confidence_in_words(advice) + "\n";
    text += fmt::format("Saves {}; peak resident {:.1f} -> {:.1f} MiB. Measured by replay, {} rounds.\n",
                        saving_in_words(one.saving), one.saving.recorded_peak_mib, one.saving.advised_peak_mib,
                        one.saving.time_ratio.rounds);
    return text;
}

void add_wrapped(std::string& text, const std::string& lines, std::size_t width, std::size_t indent) {
    std::size_t begin = 0;
    while (begin < lines.size()) {
        const std::size_t end = lines.find('\n', begin);
        text += std::string(indent, ' ') + wrapped(lines.substr(begin, end - begin), width - indent, indent + 2);
        text += '\n';
        begin = end + 1;
    }
}

}

std::string to_text(const advice_report& found, const place_names& names, text_style style) {
    std::string text;
    add_wrapped(text, head(found), style.width, 0);
    text += '\n';
    std::size_t number = 0;
    for (const advised_group& each : found.groups) {
        const std::string title = fmt::format("{}. {}", ++number, place_in_words(*each.group, names));
        text += painted(wrapped(title, style.width, 3), tint::strong, style.colours) + "\n";
        if (each.group->stack != 0) {
            const std::vector<std::string> frames = frames_in_words(*each.group, names);
            for (std::size_t i = 1; i < frames.size(); ++i)
                if (i < max_frames || i + 1 == frames.size()) add_wrapped(text, frames[i] + "\n", style.width, 5);
        }
        add_wrapped(text, facts(*each.group, found.has_frames, names), style.width, 3);
        add_wrapped(text, advice_lines(each, names), style.width, 3);
        text += '\n';
    }
    for (const affinity_words& each : words_of(found.accesses, names)) {
        if (!each.title.empty()) text += painted(each.title, tint::strong, style.colours) + "\n";
        for (const std::string& frame : each.frames) add_wrapped(text, frame + "\n", style.width, 5);
        for (const std::string& line : each.lines)
            add_wrapped(text, line + "\n", style.width, each.title.empty() ? 0 : 3);
        if (!each.title.empty()) text += '\n';
    }
    for (const std::string& each : rest_in_words(found)) add_wrapped(text, each + "\n", style.width, 0);
    return text;
}

}
