// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/advise_text.hpp"

#include <fmt/format.h>

#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t max_frames = 8;

std::string head(const advice_report& found) {
    std::string text = fmt::format("{} allocations, {} in all, at most {} at a time; {}, {} events\n", found.blocks,
                                   bytes_in_words(static_cast<double>(found.allocated_bytes)),
                                   bytes_in_words(static_cast<double>(found.peak_bytes)),
                                   threads_in_words(found.threads), found.events);
    if (!found.has_stacks)
        text += "The trace has no call stacks: blocks are grouped by size class alone. Record with stacks to learn "
                "which calls allocate them.\n";
    if (!found.has_frames)
        text += "The trace has no frames: TempJob, which is for a number of frames, is not among the advice. A "
                "program tells its frames by tn_next_frame().\n";
    return text + "\n";
}

std::string clocks(const char* name, const lifetime_figures& of, const std::string& p50, const std::string& p99,
                   const std::string& longest) {
    static_cast<void>(of);
    return fmt::format("{} {} / {} / {}", name, p50, p99, longest);
}

std::string facts(const block_group& group, bool has_frames) {
    std::string text =
        fmt::format("{} blocks of {} ({:.0f} % have {}), {} in all; at most {} in use ({}), {} at the end\n",
                    group.blocks.size(), sizes_in_words(group), group.common_share * 100, group.most_common,
                    bytes_in_words(static_cast<double>(group.bytes)), group.peak_blocks,
                    bytes_in_words(static_cast<double>(group.peak_bytes)), group.left);
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    const auto bytes = [](std::uint64_t value) { return bytes_in_words(static_cast<double>(value)); };
    text += "lifetimes, half / 99 % / longest: " +
            clocks("events", group.events, number(group.events.p50), number(group.events.p99),
                   number(group.events.longest)) +
            "; " +
            clocks("bytes allocated meanwhile", group.allocated, bytes(group.allocated.p50), bytes(group.allocated.p99),
                   bytes(group.allocated.longest)) +
            "; " +
            clocks("time", group.time_ns, time_in_words(group.time_ns.p50), time_in_words(group.time_ns.p99),
                   time_in_words(group.time_ns.longest));
    if (has_frames)
        text += "; " + clocks("frames", group.frames, number(group.frames.p50), number(group.frames.p99),
                              number(group.frames.longest));
    text += fmt::format("\nfreed by the allocating thread {:.0f} %, youngest first {:.0f} %, together {:.0f} %",
                        group.same_thread_share * 100, group.lifo_share * 100, group.together_share * 100);
    if (group.resizes != 0)
        text += fmt::format("; {} blocks were reallocated, {:.1f} times each", group.resized,
                            static_cast<double>(group.resizes) / static_cast<double>(group.resized));
    return text + "\n";
}

std::string advice_lines(const advised_group& one, const place_names& names) {
    const lifetime_advice& advice = one.advice;
    if (advice.kind == advice_kind::leave_alone) return fmt::format("Leave alone: {}.\n", one.reason);
    std::string text = fmt::format("Use {}: {}.\n", with_article(advice.kind), advice.why);
    if (const std::string scope = scope_in_words(*one.group, advice, names); !scope.empty()) {
        text += fmt::format("{}: {}\n", advice.kind == advice_kind::arena ? "keep it in" : "open the scope in", scope);
        if (advice.where == scope_place::function && advice.kind == advice_kind::temp)
            text += "A trace cannot tell two calls of that function apart: make sure that no block stays for the "
                    "next call. A checked build reports it.\n";
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
        text += painted(title, tint::strong, style.colours) + "\n";
        if (each.group->stack != 0) {
            const std::vector<std::string> frames = frames_in_words(*each.group, names);
            for (std::size_t i = 1; i < frames.size(); ++i)
                if (i < max_frames || i + 1 == frames.size()) text += "     " + frames[i] + "\n";
        }
        add_wrapped(text, facts(*each.group, found.has_frames), style.width, 3);
        add_wrapped(text, advice_lines(each, names), style.width, 3);
        text += '\n';
    }
    if (found.other_groups != 0)
        add_wrapped(text,
                    fmt::format("{} smaller groups with {} blocks were not looked at (--groups N looks at more).\n",
                                found.other_groups, found.other_blocks),
                    style.width, 0);
    if (found.has_together && found.together.error.empty())
        add_wrapped(text,
                    fmt::format("All of it together: {}; peak resident {:.1f} -> {:.1f} MiB.\n",
                                saving_in_words(found.together), found.together.recorded_peak_mib,
                                found.together.advised_peak_mib),
                    style.width, 0);
    if (found.has_together && !found.together.error.empty())
        add_wrapped(text, fmt::format("All of it together was not measured: {}.\n", found.together.error), style.width,
                    0);
    add_wrapped(text,
                fmt::format("Savings are of the replayed calls, against {}, with the memory written that --touch says. "
                            "A replay knows nothing of the program's own work, caches, waiting, and input and output: "
                            "the share that it saves of the program's time is smaller.\n",
                            found.base),
                style.width, 0);
    return text;
}

}
