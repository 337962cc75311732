// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// Maximum number of figures whose best choices are part of the summary.
constexpr std::size_t max_in_summary = 8;

constexpr std::string_view best_choices_title = "The best choices";

std::string value_cells(const table& from, std::size_t row, std::size_t index) {
    if (row == no_row) return "<td class=\"none\">–</td><td class=\"num none\">–</td>";
    return element("td", "", from.rows[row].who->name) +
           element("td", "class=\"num\"", value_text(from.rows[row].cells[index].value.median));
}

std::string reference_cell(const table& from, std::size_t row, std::size_t index) {
    if (row == no_row) return "<td class=\"num none\">–</td>";
    return element("td", fmt::format("class=\"num\" title=\"{}\"", escaped(from.rows[row].who->name)),
                   value_text(from.rows[row].cells[index].value.median));
}

std::string distance_of(const table& from, const verdict& one) {
    if (one.ours == no_row || one.other == no_row) return "–";
    const auto median = [&](std::size_t row) { return from.rows[row].cells[one.figure_index].value.median; };
    return distance_text(one.against, median(one.ours), median(one.other));
}

std::string line(const table& from, const verdict& one, bool ours, bool reference) {
    const figure& shown = from.figures[one.figure_index];
    std::string words = fmt::format("<tr><th scope=\"row\">{} <span class=\"unit\">{}</span></th>",
                                    escaped(figure_name(shown)), escaped(shown.unit));
    words += value_cells(from, one.other, one.figure_index);
    if (ours) {
        words += value_cells(from, one.ours, one.figure_index);
        words += fmt::format("<td class=\"num\">{}</td><td class=\"{}\">{}</td>", distance_of(from, one),
                             word_of(one.stands), word_of(one.stands));
    }
    if (reference) words += reference_cell(from, one.reference, one.figure_index);
    return words + "</tr>\n";
}

std::string head(bool ours, bool reference) {
    std::vector<std::string_view> titles{"figure", ours ? "best of the others" : "best choice", "#median"};
    if (ours) titles.insert(titles.end(), {"best of ours", "#median", "#distance", "ours"});
    if (reference) titles.push_back("#reference");
    return html_head(titles);
}

std::string choices_table(const section& in, const std::vector<verdict>& verdicts, std::string_view title) {
    const auto any = [&](std::size_t verdict::*row) {
        return std::any_of(verdicts.begin(), verdicts.end(), [row](const verdict& one) { return one.*row != no_row; });
    };
    const bool ours = any(&verdict::ours);
    const bool reference = any(&verdict::reference);
    std::string body = head(ours, reference);
    for (const verdict& one : verdicts) body += line(in.laid.whole, one, ours, reference);
    std::string caption = fmt::format("{}, by the ratios of the rounds. Distance: above 1 ours is worse.", title);
    if (ours)
        caption += " Level: the rounds do not show a lead, or the lead is less than 2\u00a0%; a dash: fewer than "
                   "five rounds.";
    if (reference) caption += " Reference: the best of the references, which are not choices.";
    return html_table(in, caption, body + "</tbody>", "choices");
}

}

std::string html_summary(const section& in) {
    const table& whole = in.laid.whole;
    if (whole.figures.empty() || whole.rows.empty()) return "<p>Nothing was measured.</p>\n";
    const std::vector<verdict> verdicts = verdicts_of(whole);
    std::string text = "<div class=\"summary\">\n";
    for (const std::string& words : conclusions(in.found, in.laid)) text += element("p", "", words) + "\n";
    std::vector<verdict> primary;
    std::copy_if(verdicts.begin(), verdicts.end(), std::back_inserter(primary),
                 [&](const verdict& one) { return whole.figures[one.figure_index].primary; });
    if (!primary.empty()) text += choices_table(in, primary, "The primary figures of this experiment");
    if (primary.empty() && verdicts.size() <= max_in_summary) text += choices_table(in, verdicts, best_choices_title);
    return text + "</div>\n";
}

std::string html_choices(const section& in) {
    const std::vector<verdict> verdicts = verdicts_of(in.laid.whole);
    const auto is_primary = [&](const verdict& one) { return in.laid.whole.figures[one.figure_index].primary; };
    const bool shown = verdicts.size() <= max_in_summary && std::none_of(verdicts.begin(), verdicts.end(), is_primary);
    return shown ? std::string() : choices_table(in, verdicts, best_choices_title);
}

}
