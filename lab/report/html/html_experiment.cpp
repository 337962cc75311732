// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/ranking.hpp"
#include "report/chart/bar_chart.hpp"
#include "report/chart/bar_parts.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"
#include "report/table/versions.hpp"

namespace tenure::lab {

namespace {

std::string heading(const section& in, std::string_view anchor, std::string_view words) {
    return fmt::format("<h3 id=\"{}-{}\">{}</h3>\n", in.prefix, anchor, escaped(words));
}

/// One chart per figure, because times need scales of their own.
std::string timed_charts(const section& in, const table& from, const std::string& prefix) {
    std::string text = "<div class=\"charts\">\n";
    for (std::size_t index = 0; index < from.figures.size(); ++index) {
        text += draw({from, {index}, fmt::format("{}-{}", prefix, index), from.figures[index].metric});
    }
    // With a single chart, the table fits beside it.
    std::string numbers = html_figure_table(in, from);
    const std::string versions = versions_of(from);
    if (!versions.empty()) numbers += element("p", "class=\"about\"", versions) + "\n";
    return from.figures.size() == 1 ? text + numbers + "</div>\n" : text + "</div>\n" + numbers;
}

/// Groups figures of the same unit into one chart, so that the peak and what remains of it are below each other. Up to
/// three share a chart; four or more are split into pairs.
std::vector<std::vector<std::size_t>> memory_groups(const std::vector<figure>& figures) {
    std::map<std::string_view, std::vector<std::size_t>> by_unit;
    for (std::size_t index = 0; index < figures.size(); ++index) by_unit[figures[index].unit].push_back(index);
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [unit, members] : by_unit) {
        const std::size_t size = members.size() <= 3 ? members.size() : 2;
        for (std::size_t first = 0; first < members.size(); first += size) {
            const auto begin = members.begin() + static_cast<std::ptrdiff_t>(first);
            groups.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, members.size() - first)));
        }
    }
    return groups;
}

std::string memory_charts(const table& from, const std::string& prefix) {
    std::string text = "<div class=\"charts\">\n";
    for (const std::vector<std::size_t>& group : memory_groups(from.figures)) {
        std::string title;
        for (const std::size_t index : group) title += (title.empty() ? "" : ", ") + from.figures[index].metric;
        text += draw({from, group, fmt::format("{}-{}", prefix, group.front()), title});
    }
    return text + "</div>\n";
}

std::string variant_heading(const table& from) {
    return from.variant.empty() ? std::string() : element("h4", "class=\"variant\"", from.variant) + "\n";
}

std::string swatch(role part, std::string_view words) {
    return fmt::format("<li><svg class=\"swatch\" viewBox=\"0 0 16 11\" aria-hidden=\"true\"><rect x=\"1\" y=\"1\" "
                       "width=\"14\" height=\"9\" class=\"{}\"/></svg> {}</li>",
                       css_of(part), escaped(words));
}

std::string legend(const section& in) {
    std::string text = "<ul class=\"legend\">" + swatch(role::ours, "ours") + swatch(role::peer, "others");
    const auto has = [&](role part) {
        return std::any_of(in.laid.whole.rows.begin(), in.laid.whole.rows.end(),
                           [part](const table_row& row) { return row.part == part; });
    };
    if (has(role::baseline)) text += swatch(role::baseline, "baseline");
    if (has(role::reference)) text += swatch(role::reference, "reference, not a choice");
    if (has(role::checked)) text += swatch(role::checked, "ours with checks, not a choice");
    text += "<li><svg class=\"swatch wide\" viewBox=\"0 0 34 11\" aria-hidden=\"true\"><path class=\"whisker\" "
            "d=\"M5 2v6M5 5H25M25 2v6\"/><path class=\"rounds\" d=\"M31 5h0\"/></svg> spread: the middle half of the "
            "rounds; dots: the other rounds</li>";
    if (in.laid.has_baseline) {
        text += fmt::format("<li><svg class=\"swatch\" viewBox=\"0 0 16 11\" aria-hidden=\"true\"><path "
                            "class=\"baseline-mark\" d=\"M8 0v11\"/></svg> median of {}</li>",
                            escaped(in.found.baseline));
    }
    return text + "</ul>\n";
}

std::string times(const section& in) {
    if (in.laid.timed.empty()) return {};
    std::string text = heading(in, "times", "Figures") + legend(in);
    for (std::size_t index = 0; index < in.laid.timed.size(); ++index) {
        const table& from = in.laid.timed[index];
        text += variant_heading(from) + timed_charts(in, from, fmt::format("{}-t{}", in.prefix, index));
    }
    return text;
}

std::string memory(const section& in) {
    if (in.laid.memory.empty()) return {};
    std::string text = heading(in, "memory", "Memory");
    for (std::size_t index = 0; index < in.laid.memory.size(); ++index) {
        const table& from = in.laid.memory[index];
        text += variant_heading(from) + memory_charts(from, fmt::format("{}-m{}", in.prefix, index));
        text += html_figure_table(in, from);
    }
    return text;
}

bool tells_overflow(const section& in) {
    return std::any_of(in.laid.told.begin(), in.laid.told.end(), [](const table& from) {
        return std::any_of(from.figures.begin(), from.figures.end(),
                           [](const figure& column) { return column.metric == "at it, cold"; });
    });
}

std::string told(const section& in) {
    if (in.laid.told.empty()) return {};
    std::string text = heading(in, "told", "Further figures");
    text += "<p class=\"about\">These figures have no better side, or only one contestant has them.</p>\n";
    if (tells_overflow(in)) {
        text += "<p class=\"about\">Overflow: <b>it</b> is the first block that does not fit into the budget. "
                "<b>Before it</b> and <b>after it</b> are means over the blocks on either side, <b>at it</b> is "
                "that single block; these three are warm, in passes over memory used before. <b>At it, cold</b> is "
                "that block in the very first pass, timed alone: it includes obtaining new memory and touching it "
                "for the first time.</p>\n";
    }
    for (const table& from : in.laid.told) text += html_told_table(in, from);
    return text;
}

std::string unfair(const section& in) {
    if (in.found.unfair.empty()) return {};
    std::string text = heading(in, "unfair", "What would make it unfair, and what it does not show") + "<ul>\n";
    for (const std::string& words : in.found.unfair) text += element("li", "", words) + "\n";
    return text + "</ul>\n";
}

std::string conditions(const section& in) {
    std::string text = element("li", "", count_text(in.found.rounds, "round"));
    if (!in.found.baseline.empty()) {
        text += fmt::format("<li>baseline <b>{}</b>{}</li>", escaped(in.found.baseline),
                            in.laid.has_baseline ? "" : ", which was not measured: no ratios");
    }
    for (const parameter& given : in.found.parameters) {
        text += fmt::format("<li><code>{} {}</code></li>", escaped(given.name), escaped(given.value));
    }
    return "<ul class=\"conditions\">" + text + "</ul>\n";
}

}

std::string html_rank(const section& in) {
    if (in.found.ranking_rule.empty() && in.found.ranking.empty()) return {};
    const std::vector<ranked> order = in.found.ranking.empty() ? rank(in.found) : std::vector<ranked>{};
    if (in.found.ranking.empty() && order.empty()) return {};
    std::string text = heading(in, "rank", "Rank");
    if (!in.found.ranking_rule.empty()) text += element("p", "class=\"about\"", in.found.ranking_rule) + "\n";
    if (!in.found.ranking.empty()) {
        text += "<ol class=\"rank\">\n";
        for (const std::string& name : in.found.ranking) text += element("li", "", name) + "\n";
        return text + "</ol>\n";
    }
    std::vector<plain_bar> bars;
    for (std::size_t place = 0; place < order.size(); ++place) {
        const ranked& one = order[place];
        const auto row = std::find_if(in.laid.whole.rows.begin(), in.laid.whole.rows.end(),
                                      [&](const table_row& each) { return each.who->name == one.name; });
        bars.push_back({fmt::format("{}. {}", place + 1, one.name), row->part, one.score,
                        fmt::format("{}   {} of {}", ratio_text(one.score), one.measured, one.possible)});
    }
    return text + "<div class=\"charts\">\n" +
           draw_plain(bars, in.prefix + "-r", "Score",
                      "geometric mean of the ratios to the baseline, smaller is better; figures it is made of") +
           "</div>\n";
}

std::string html_experiment(const section& in) {
    std::string text = fmt::format("<section class=\"experiment\" id=\"{}\">\n", in.prefix);
    text += element("h2", "", in.found.name) + "\n" + element("p", "class=\"question\"", in.found.question) + "\n";
    text += conditions(in);
    if (const std::string doubt = doubt_of(in.found); !doubt.empty()) {
        text += element("p", "class=\"notice\"", doubt) + "\n";
    }
    text += html_summary(in);
    const std::string absent = html_absent(in);
    const std::string matrix = html_ratio_matrix(in);
    if (!matrix.empty()) text += heading(in, "glance", "All at a glance") + html_choices(in) + matrix;
    text += times(in);
    text += html_quotients(in);
    text += told(in);
    text += html_distances(in);
    text += memory(in);
    text += html_resident(in);
    if (!in.found.properties.empty()) text += heading(in, "properties", "Properties") + html_properties(in);
    text += html_rank(in);
    text += unfair(in);
    text += heading(in, "who", "Who took part") + html_contestants(in) + absent;
    return text + "</section>\n";
}

}
