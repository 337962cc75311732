// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html.hpp"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/distances.hpp"
#include "report/chart/resident_chart.hpp"
#include "report/html/html_section.hpp"
#include "report/html/html_style.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

// Whatever the data contains, the page can load nothing and run nothing.
constexpr std::string_view policy = "default-src 'none'; style-src 'unsafe-inline'";

std::string prefix_of(std::size_t index) { return fmt::format("e{}", index + 1); }

std::string link(std::string_view prefix, std::string_view anchor, std::string_view words) {
    return fmt::format("<li><a href=\"#{}-{}\">{}</a></li>", prefix, anchor, words);
}

std::string contents_of(const section& in) {
    const std::string& at = in.prefix;
    std::string text = fmt::format("<li><a href=\"#{}\">{}</a>\n<ul>", at, escaped(in.found.name));
    if (in.laid.whole.figures.size() > 1 && !in.laid.whole.rows.empty()) text += link(at, "glance", "At a glance");
    if (!in.laid.timed.empty()) text += link(at, "times", "Figures");
    if (!in.laid.told.empty()) text += link(at, "told", "Further figures");
    if (!distances_of(in.found).empty()) text += link(at, "distances", "Distances");
    if (!in.laid.memory.empty()) text += link(at, "memory", "Memory");
    if (!resident_over_time(in.found).empty()) text += link(at, "resident", "Resident memory over time");
    if (!in.found.properties.empty()) text += link(at, "properties", "Properties");
    if (!html_rank(in).empty()) text += link(at, "rank", "Rank");
    if (!in.found.unfair.empty()) text += link(at, "unfair", "Unfair?");
    return text + link(at, "who", "Who took part") + "</ul></li>\n";
}

std::string gibibytes(std::uint64_t bytes) {
    return value_text(static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0)) + " GiB";
}

std::string machine_of(const result& found) {
    const machine_info& machine = found.machine;
    const std::array<std::pair<std::string_view, std::string>, 13> rows{
        {{"CPU", machine.cpu},
         {"Cores", machine.cores == 0 ? std::string() : std::to_string(machine.cores)},
         {"Memory", machine.memory_bytes == 0 ? std::string() : gibibytes(machine.memory_bytes)},
         {"Kernel", machine.kernel},
         {"System", machine.system},
         {"C library", machine.c_library},
         {"Huge pages", machine.huge_pages},
         {"Compiler", machine.compiler},
         {"Flags", machine.flags},
         {"Build type", machine.build_type},
         {"Commit", machine.commit},
         {"Tenure", found.tool_version},
         {"Command", found.command}}};
    std::string text = "<section class=\"closing\" id=\"machine\">\n<h2>Machine and build</h2>\n<dl>\n";
    for (const auto& [name, value] : rows) {
        text += element("dt", "", name) + element("dd", "", value.empty() ? "unknown" : value) + "\n";
    }
    return text + "</dl>\n</section>\n";
}

std::string how_to_read(const page_words& words) {
    constexpr std::string_view list = R"(<section class="closing" id="reading">
<h2>How to read this</h2>
<ul>
<li><b>Median</b> of the rounds. Each round runs every contestant once, each in its own processes and in shuffled order.</li>
<li><b>Spread</b> is the middle half of the rounds, from the 25th to the 75th percentile; dots in a chart are the rounds
outside it. With fewer than three rounds there is none.</li>
<li><b>Ratio</b> is the median, over the rounds, of the contestant's figure divided by the baseline's of the same round.
A machine drifts from one minute to the next; the ratio within a round does not. ×0.40 is 40 % of the baseline's time.</li>
<li><b>The best choice</b> is printed in bold: no other contestant leads it. One leads another when the signed-rank test
(Wilcoxon 1945, 5 %) over the ratios of the same rounds puts them on its side of 1, and their median is 2 % or more away.
All contestants level with the best are marked. With fewer than five rounds none is.</li>
<li><b>Charts</b> are sorted by the medians, and bars begin at zero. If the values are too far apart, the scale is
logarithmic: the caption says so, and a mark on a thin line replaces the bar.</li>
<li><b>References</b> are schemes to compare with: a bare one, such as a bump that never frees, or one that was rebuilt for
the experiment. They are not choices, and are never named as the best.</li>
<li><b>Checked</b> forms of ours report the caller's mistakes. They are shown, but they are not choices, and their figures
do not count as ours.</li>
<li>A dash means that there is no such figure: the scheme has no such call, or the contestant was left out; the reason is
then given under "Who took part". A missing ratio means that a figure or the baseline's is below zero, or that the
baseline has none. )";
    return std::string(list) + words.data + "</li>\n</ul>\n</section>\n";
}

std::string notices(const result& found, std::string_view mark) {
    std::string text;
    if (!mark.empty()) {
        text +=
            fmt::format("<p class=\"notice\"><strong>This is an {}.</strong> Its figures say nothing about a release; "
                        "every table is marked.</p>\n",
                        escaped(mark));
    }
    if (!found.complete) {
        text += "<p class=\"notice\"><strong>Interrupted.</strong> Only the finished measurements are included.</p>\n";
    }
    return text;
}

std::string head_of(const result& found, std::string_view mark, const page_words& words) {
    const machine_info& machine = found.machine;
    std::string facts = found.started_at;
    const auto add = [&facts](std::string_view name, std::string_view value) {
        if (!value.empty()) facts += fmt::format("{}{}{}", facts.empty() ? "" : " · ", name, value);
    };
    add("", machine.cpu);
    add("", machine.cores == 0 ? std::string() : count_text(machine.cores, "core"));
    add("", machine.system);
    add("", machine.compiler);
    add("", machine.build_type);
    add("commit ", machine.commit);
    std::string text = "<header>\n" + element("h1", "", words.title) + "\n" + element("p", "", facts) + "\n";
    if (!found.command.empty()) text += fmt::format("<p><code>{}</code></p>\n", escaped(found.command));
    return text + notices(found, mark) + "</header>\n";
}

}

std::string to_html(const result& found, const page_words& words) {
    const std::string mark = build_mark(found.machine);
    std::string contents = words.contents;
    std::string sections;
    for (std::size_t index = 0; index < found.experiments.size(); ++index) {
        const layout laid = lay_out(found.experiments[index]);
        const section one{found.experiments[index], laid, mark, prefix_of(index)};
        contents += contents_of(one);
        sections += html_experiment(one);
    }
    const std::string distance = html_standings(found, mark);
    if (!distance.empty()) contents += "<li><a href=\"#distance\">Distance to the best</a></li>\n";
    if (sections.empty()) sections = "<p>No experiment has finished.</p>\n";
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<title>{} {}</title>\n<style>{}{}"
        "</style>\n</head>\n<body>\n{}<div class=\"page\">\n{}<div class=\"body\">\n<nav "
        "aria-label=\"Contents\">\n<h2>Contents</h2>\n<ul>\n{}<li><a href=\"#machine\">Machine and build"
        "</a></li>\n<li><a href=\"#reading\">How to read this</a></li>\n</ul>\n</nav>\n<main>\n{}{}{}{}{}"
        "</main>\n</div>\n</div>\n</body>\n</html>\n",
        policy, escaped(words.title), escaped(found.started_at), html_style(), words.style, html_patterns(),
        head_of(found, mark, words), contents, words.sections, sections, distance, machine_of(found),
        how_to_read(words));
}

}
