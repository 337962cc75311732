// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/conclusion.hpp"
#include "report/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// Figures whose best choices still make a short summary.
constexpr std::size_t most_in_summary = 8;

std::string value_cells(const table& from, std::size_t row, std::size_t index) {
    if (row == no_row) return "<td class=\"none\">–</td><td class=\"num none\">–</td>";
    return element("td", "", from.rows[row].who->name) +
           element("td", "class=\"num\"", value_text(from.rows[row].cells[index].value.median));
}

std::string limit_cell(const table& from, std::size_t row, std::size_t index) {
    if (row == no_row) return "<td class=\"num none\">–</td>";
    return element("td", fmt::format("class=\"num\" title=\"{}\"", escaped(from.rows[row].who->name)),
                   value_text(from.rows[row].cells[index].value.median));
}

std::string_view word_of(standing stands) {
    switch (stands) {
    case standing::leads: return "leads";
    case standing::level: return "level";
    case standing::trails: return "trails";
    case standing::none: break;
    }
    return "–";
}

std::string line(const table& from, const verdict& one, bool ours, bool limit) {
    const figure& shown = from.figures[one.figure_index];
    std::string words = fmt::format("<tr><th scope=\"row\">{} <span class=\"unit\">{}</span></th>",
                                    escaped(figure_name(shown)), escaped(shown.unit));
    words += value_cells(from, one.other, one.figure_index);
    if (ours) {
        words += value_cells(from, one.ours, one.figure_index);
        words += fmt::format("<td class=\"num\">{}</td><td class=\"{}\">{}</td>", ratio_text(one.against.median),
                             word_of(one.stands), word_of(one.stands));
    }
    if (limit) words += limit_cell(from, one.limit, one.figure_index);
    return words + "</tr>\n";
}

std::string head(bool ours, bool limit) {
    std::vector<std::string_view> titles{"figure", ours ? "best of the others" : "best choice", "#median"};
    if (ours) titles.insert(titles.end(), {"best of ours", "#median", "#ours / other", "ours"});
    if (limit) titles.push_back("#limit");
    return html_head(titles);
}

std::string choices_table(const section& in, const std::vector<verdict>& verdicts) {
    const auto any = [&](std::size_t verdict::*row) {
        return std::any_of(verdicts.begin(), verdicts.end(), [row](const verdict& one) { return one.*row != no_row; });
    };
    const bool ours = any(&verdict::ours);
    const bool limit = any(&verdict::limit);
    std::string body = head(ours, limit);
    for (const verdict& one : verdicts) body += line(in.laid.whole, one, ours, limit);
    std::string caption = "The best choices, by median.";
    if (ours) caption += " Level: the rounds disagree about who is ahead, or it is by less than 1\u00a0%.";
    if (limit) caption += " Limit: the best of the references, which show what is possible and are no choices.";
    return html_table(in, caption, body + "</tbody>", "choices");
}

}

std::string html_summary(const section& in) {
    const table& whole = in.laid.whole;
    if (whole.figures.empty() || whole.rows.empty()) return "<p>Nothing was measured.</p>\n";
    const std::vector<verdict> verdicts = verdicts_of(whole);
    std::string text = "<div class=\"summary\">\n";
    for (const std::string& words : conclusions(in.found, in.laid)) text += element("p", "", words) + "\n";
    if (verdicts.size() <= most_in_summary) text += choices_table(in, verdicts);
    return text + "</div>\n";
}

std::string html_choices(const section& in) {
    const std::vector<verdict> verdicts = verdicts_of(in.laid.whole);
    return verdicts.size() <= most_in_summary ? std::string() : choices_table(in, verdicts);
}

}
