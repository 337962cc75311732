// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/advise_html.hpp"

#include <fmt/format.h>

#include "observe/replay/affinity/affinity_text.hpp"
#include "observe/replay/report/lifetime_chart.hpp"
#include "report/html/html_style.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view rules = R"css(
.life { fill: #2b6cb0; } .tick { font-size: 11px; fill: currentColor; } .axis { stroke: currentColor; }
section.group { margin: 1.6rem 0; } section.group svg { width: 100%; max-width: 42rem; }
pre.line { white-space: pre-wrap; overflow-wrap: anywhere; }
)css";

std::string row(std::string_view name, std::string_view value) {
    return "<tr>" + element("th", "scope=\"row\"", name) + element("td", "", value) + "</tr>\n";
}

std::string figures(const block_group& group, bool has_frames, const place_names& names) {
    const auto clock = [](const std::string& p50, const std::string& p99, const std::string& longest) {
        return fmt::format("{} / {} / {}", p50, p99, longest);
    };
    const auto bytes = [](std::uint64_t value) { return bytes_in_words(static_cast<double>(value)); };
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    std::string text = "<table>\n";
    text += row("blocks", fmt::format("{} of {}", group.blocks.size(), sizes_in_words(group)));
    text += row("bytes", bytes(group.bytes));
    text += row("at most in use", fmt::format("{} ({})", group.peak_blocks, bytes(group.peak_bytes)));
    text += row("in use at the end", number(group.left));
    text += row("lifetime in events: half / 99 % / longest",
                clock(number(group.events.p50), number(group.events.p99), number(group.events.longest)));
    text += row("bytes allocated meanwhile",
                clock(bytes(group.allocated.p50), bytes(group.allocated.p99), bytes(group.allocated.longest)));
    text += row("time", clock(time_in_words(group.time_ns.p50), time_in_words(group.time_ns.p99),
                              time_in_words(group.time_ns.longest)));
    if (has_frames)
        text += row("frames", clock(number(group.frames.p50), number(group.frames.p99), number(group.frames.longest)));
    text += row("freed by the allocating thread", share_text(group.same_thread_share));
    text += row("freed youngest first", share_text(group.lifo_share));
    text += row("freed together", share_text(group.together_share));
    if (const std::string frees = frees_in_words(group, names); !frees.empty()) text += row("freed in", frees);
    if (group.resizes != 0)
        text += row("reallocations", fmt::format("{} of {}", group.resizes, count_in_words(group.resized, "block")));
    return text + "</table>\n";
}

std::string advice_of(const advised_group& one, const place_names& names) {
    const lifetime_advice& advice = one.advice;
    if (advice.kind == advice_kind::leave_alone) return element("p", "", fmt::format("Leave alone: {}.", one.reason));
    std::string text = element("p", "", fmt::format("Use {}: {}.", with_article(advice.kind), advice.why));
    const std::string scope = scope_in_words(*one.group, advice, names);
    if (!scope.empty())
        text += element("p", "",
                        (advice.kind == advice_kind::arena ? "Clear it at the end of " : "Open the scope in ") + scope);
    if (const std::string_view warning = scope_warning(advice); !scope.empty() && !warning.empty())
        text += element("p", "", warning);
    const code_lines lines = lines_for(*one.group, advice);
    text += element("pre", "class=\"line\"", "C++: " + lines.cpp + "\nC#:  " + lines.csharp);
    text += element("p", "", confidence_in_words(advice));
    text +=
        element("p", "",
                fmt::format("Saves {}; peak resident {:.1f} to {:.1f} MiB. {} rounds.", saving_in_words(one.saving),
                            one.saving.recorded_peak_mib, one.saving.advised_peak_mib, one.saving.time_ratio.rounds));
    return text;
}

std::string group_of(const advised_group& one, const place_names& names, bool has_frames, std::size_t number) {
    std::string text = "<section class=\"group\">\n";
    text += element("h2", "", fmt::format("{}. {}", number, place_in_words(*one.group, names)));
    text += advice_of(one, names);
    if (one.group->stack != 0) {
        text += "<ol>\n";
        for (const std::string& each : frames_in_words(*one.group, names)) text += element("li", "", each) + "\n";
        text += "</ol>\n";
    }
    return text + lifetime_chart(*one.group, number) + figures(*one.group, has_frames, names) + "</section>\n";
}

std::string words_in_html(const affinity_words& of) {
    std::string text = "<section class=\"group\">\n";
    if (!of.title.empty()) text += element("h2", "", of.title);
    if (!of.frames.empty()) {
        text += "<ul>\n";
        for (const std::string& each : of.frames) text += element("li", "", each) + "\n";
        text += "</ul>\n";
    }
    for (const std::string& each : of.lines) text += element("p", "", each);
    return text + "</section>\n";
}

}

std::string to_html(const advice_report& found, const place_names& names, std::string_view file) {
    std::string page =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += element("title", "", fmt::format("Advice for {}", file));
    page += fmt::format("<style>{}{}</style>\n</head>\n<body>\n<main>\n", html_style(), rules);
    page += element("h1", "", fmt::format("Advice for {}", file));
    page += element("p", "",
                    fmt::format("{}, {} in all, at most {} at a time; {}.", count_in_words(found.blocks, "allocation"),
                                bytes_in_words(static_cast<double>(found.allocated_bytes)),
                                bytes_in_words(static_cast<double>(found.peak_bytes)),
                                count_in_words(found.threads, "thread")));
    for (const std::string& each : limits_in_words(found)) page += element("p", "", each);
    for (const std::string& each : rest_in_words(found)) page += element("p", "", each);
    for (std::size_t i = 0; i < found.groups.size(); ++i)
        page += group_of(found.groups[i], names, found.has_frames, i + 1);
    for (const affinity_words& each : words_of(found.accesses, names)) page += words_in_html(each);
    return page + "</main>\n</body>\n</html>\n";
}

}
