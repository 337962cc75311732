// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "report/analysis/distances.hpp"
#include "report/analysis/metric_value.hpp"
#include "report/chart/distance_chart.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// The fact "overflow index" of the drawn variant, when the experiment measured it.
std::optional<double> budget_end_of(const distance_view& view) {
    for (const metric& measured : view.who->metrics) {
        const bool shown =
            std::find(view.variants.begin(), view.variants.end(), measured.variant) != view.variants.end();
        if (measured.name != "overflow index" || !shown) continue;
        const summary found = value_of(measured);
        if (found.count != 0) return found.median;
    }
    return std::nullopt;
}

std::string overview(const section& in, const std::vector<distance_view>& views) {
    std::string body = html_head(
        {"contestant", "when", "#usual distance", "#share", "#different", "#backwards", "#lowest", "#highest"});
    for (const distance_view& view : views) {
        const distance_summary& found = view.found;
        const role part = role_of(*view.who, in.found.baseline);
        body += fmt::format("<tr{}><th scope=\"row\">{}</th>", part == role::ours ? " class=\"ours\"" : "",
                            html_name(view.who->name, part, view.who->name == in.found.baseline));
        body += element("td", "", fmt::format("{}", fmt::join(view.variants, ", ")));
        for (const std::string& words : {integer_text(found.usual), share_text(found.usual_count, found.count),
                                         integer_text(static_cast<std::int64_t>(found.distinct)),
                                         integer_text(static_cast<std::int64_t>(found.backwards)),
                                         integer_text(found.lowest), integer_text(found.highest)}) {
            body += element("td", "class=\"num\"", words);
        }
        body += "</tr>\n";
    }
    return html_table(in, "Distance from the end of the previous allocation to the next, in bytes", body + "</tbody>");
}

std::string card(const section& in, const distance_view& view, std::size_t number) {
    const role part = role_of(*view.who, in.found.baseline);
    const std::string id = fmt::format("{}-d{}", in.prefix, number);
    std::string when = fmt::format("{}", fmt::join(view.variants, " and "));
    if (view.variants.size() > 1) when += " (the same)";
    return fmt::format("<section class=\"card{}\"><h4>{} <small>{}</small></h4>\n{}{}</section>\n",
                       part == role::ours ? " ours" : "",
                       html_name(view.who->name, part, view.who->name == in.found.baseline), escaped(when),
                       draw_distances(view, budget_end_of(view), id + "p"), draw_buckets(view, id + "b"));
}

}

std::string html_distances(const section& in) {
    const std::vector<distance_view> views = distances_of(in.found);
    if (views.empty()) return {};
    std::string text = fmt::format("<h3 id=\"{}-distances\">Distances</h3>\n<p class=\"about\">How far each "
                                   "allocation begins after the end of the previous one. With equal distances, the "
                                   "cache can predict a walk over the blocks in allocation order. Each plot has its "
                                   "own scale.</p>\n",
                                   in.prefix);
    text += overview(in, views);
    text += "<div class=\"cards\">\n";
    for (std::size_t number = 0; number < views.size(); ++number) {
        if (views[number].values != nullptr) text += card(in, views[number], number);
    }
    return text + "</div>\n";
}

}
