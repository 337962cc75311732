// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <array>

#include <fmt/format.h>

#include "report/chart/resident_chart.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// The seconds that the table shows: a few round ones, and the last.
std::vector<std::size_t> shown_seconds(const resident_view& view) {
    constexpr std::array<std::size_t, 9> round{0, 1, 2, 3, 5, 10, 30, 60, 600};
    const std::size_t last = (view.readings() - 1) / resident_readings_per_second;
    std::vector<std::size_t> shown;
    for (const std::size_t second : round) {
        if (second < last) shown.push_back(second);
    }
    shown.push_back(last);
    return shown;
}

std::string readings_table(const section& in, const resident_view& view) {
    const std::vector<std::size_t> seconds = shown_seconds(view);
    std::vector<std::string> titles{"contestant"};
    for (const std::size_t second : seconds) titles.push_back(fmt::format("#{} s", second));
    std::string body = html_head({titles.begin(), titles.end()});
    for (const resident_line& line : view.lines) {
        body += fmt::format("<tr{}><th scope=\"row\">{}</th>", line.part == role::ours ? " class=\"ours\"" : "",
                            html_name(line.who->name, line.part, line.who->name == in.found.baseline));
        for (const std::size_t second : seconds) {
            const std::size_t reading = second * resident_readings_per_second;
            const bool has_it = reading < line.kibibytes->size();
            body += element("td", has_it ? "class=\"num\"" : "class=\"num none\"",
                            has_it ? value_text(line.mib(reading)) : "–");
        }
        body += "</tr>\n";
    }
    return html_table(in, "Resident after so many seconds, in MiB", body + "</tbody>");
}

}

std::string html_resident(const section& in) {
    const std::vector<resident_view> views = resident_over_time(in.found);
    if (views.empty()) return {};
    std::string text =
        fmt::format("<h3 id=\"{}-resident\">Resident memory over time</h3>\n<p class=\"about\">The "
                    "program frees most or all of its blocks, then waits and calls nothing. At 0 seconds the "
                    "frees have just ended. One round, the first.</p>\n",
                    in.prefix);
    for (std::size_t number = 0; number < views.size(); ++number) {
        const resident_view& view = views[number];
        if (!view.variant.empty()) text += element("h4", "class=\"variant\"", view.variant) + "\n";
        text += draw_resident(view, fmt::format("{}-o{}", in.prefix, number));
        text += readings_table(in, view);
    }
    return text;
}

}
