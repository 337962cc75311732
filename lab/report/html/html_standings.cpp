// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/standings.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

std::string number_cell(std::string_view words) { return element("td", "class=\"num\"", words); }

std::string counts_row(std::string_view name, const standing_counts& counts) {
    std::string words = "<tr>" + element("th", "scope=\"row\"", name);
    for (const std::size_t count :
         {counts.leads, counts.level, counts.trails_little, counts.trails_much, counts.figures()}) {
        words += number_cell(std::to_string(count));
    }
    return words + "</tr>\n";
}

std::string counts_table(const section& in, const standings& found) {
    std::string body =
        html_head({"experiment", "#leads", "#level", "#trails by up to 10\u00a0%", "#trails by more", "#figures"});
    for (const experiment_standing& one : found.experiments) body += counts_row(one.experiment, one.counts);
    body += counts_row("all", found.all);
    if (found.all_but_vectors) body += counts_row("all but vectors", *found.all_but_vectors);
    return html_table(in,
                      "In how many figures the best of ours leads the best of the others, is level with it, trails it",
                      body + "</tbody>");
}

std::string longest_table(const section& in, const standings& found) {
    if (found.trails.empty()) return {};
    std::string body = html_head({"experiment", "figure", "#distance", "#middle half", "best of ours", "#median",
                                  "best of the others", "#median"});
    const std::size_t shown = std::min(found.trails.size(), longest_distances);
    for (std::size_t place = 0; place < shown; ++place) {
        const trailing_figure& one = found.trails[place];
        body += "<tr>" + element("th", "scope=\"row\"", one.experiment);
        body += fmt::format("<td>{} <span class=\"unit\">{}</span></td>", escaped(figure_name(one)), escaped(one.unit));
        body += number_cell(distance_text(one.ratio, one.ours_median, one.other_median)) +
                number_cell(spread_text(one.ratio));
        body += element("td", "", one.ours) + number_cell(value_text(one.ours_median));
        body += element("td", "", one.other) + number_cell(value_text(one.other_median)) + "</tr>\n";
    }
    return html_table(in,
                      "The longest distances within a round. Above 1: ours is worse; from 0: the other's figure "
                      "is 0",
                      body + "</tbody>");
}

}

std::string html_standings(const result& found, const std::string& mark) {
    const standings counted = standings_of(found);
    if (counted.experiments.empty()) return {};
    const experiment_result none;
    const layout nothing;
    const section in{none, nothing, mark, "distance"};
    return "<section class=\"closing\" id=\"distance\">\n<h2>Distance to the best of the others</h2>\n" +
           counts_table(in, counted) + longest_table(in, counted) + "</section>\n";
}

}
