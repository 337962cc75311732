// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/judge.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// How near a row is to the best choice of its column, in the same rounds: three shades, or none.
std::string_view shade_of(double times) {
    if (times <= 1.05) return "s3";
    if (times <= 1.25) return "s2";
    return times <= 2.0 ? "s1" : "";
}

std::string matrix_cell(const table& from, std::size_t row, std::size_t column, const std::vector<std::size_t>& best) {
    const cell& one = from.rows[row].cells[column];
    if (one.value.count == 0) return "<td class=\"none\">–</td>";
    const bool is_best = holds_row(best, row);
    std::string_view shade;
    if (!best.empty() && is_choice(from.rows[row].part)) {
        shade = shade_of(match_of(from, column, row, best_of(from, column, best)).ratio.median);
    }
    const std::string words = one.ratio.count != 0 ? ratio_text(one.ratio.median) : value_text(one.value.median);
    return fmt::format("<td class=\"num {}{}\" title=\"{} {}\">{}</td>", shade, is_best ? " best" : "",
                       value_text(one.value.median), escaped(from.figures[column].unit),
                       is_best ? fmt::format("<b>{}</b>", words) : words);
}

/// Maximum number of columns in one matrix, so that it fits a printed page.
constexpr std::size_t max_columns = 10;

/// The end of the figures that share a variant with the first one.
std::size_t end_of_variant(const std::vector<figure>& figures, std::size_t first) {
    std::size_t end = first + 1;
    while (end < figures.size() && figures[end].variant == figures[first].variant) ++end;
    return end;
}

/// The number of figures of whole variants that fit one matrix; at least one variant.
std::size_t end_of_matrix(const std::vector<figure>& figures, std::size_t first) {
    std::size_t end = end_of_variant(figures, first);
    while (end < figures.size() && end_of_variant(figures, end) - first <= max_columns) {
        end = end_of_variant(figures, end);
    }
    return end;
}

bool some_without_ratio(const table& whole) {
    return std::any_of(whole.rows.begin(), whole.rows.end(), [](const table_row& row) {
        return std::any_of(row.cells.begin(), row.cells.end(),
                           [](const cell& one) { return one.value.count != 0 && one.ratio.count == 0; });
    });
}

std::string matrix_head(const std::vector<figure>& figures, std::size_t first, std::size_t end) {
    std::string groups = "<thead><tr><th scope=\"col\" rowspan=\"2\">contestant</th>";
    std::string names = "<tr>";
    for (std::size_t index = first; index < end; index = end_of_variant(figures, index)) {
        const std::string& variant = figures[index].variant;
        const std::size_t span = end_of_variant(figures, index) - index;
        groups += element("th", fmt::format("scope=\"colgroup\" colspan=\"{}\" class=\"group\"", span),
                          variant.empty() ? "all" : variant);
    }
    for (std::size_t index = first; index < end; ++index)
        names += element("th", "scope=\"col\"", figures[index].metric);
    return groups + "</tr>" + names + "</tr></thead>\n";
}

}

std::string html_ratio_matrix(const section& in) {
    const table& whole = in.laid.whole;
    if (whole.figures.size() < 2 || whole.rows.empty()) return {};
    const std::string what = in.laid.has_baseline
                                 ? fmt::format("Ratio to {} of the same round, median.", in.found.baseline)
                                 : std::string("Medians; there are no ratios, because the baseline was not measured.");
    std::string caption =
        what + " Framed: the best choice. Shaded in three steps: within 5\u00a0%, 25\u00a0% and a factor of two of it.";
    if (in.laid.has_baseline && some_without_ratio(whole))
        caption += " Values without × are medians, where there is no ratio.";
    std::string text;
    for (std::size_t first = 0; first < whole.figures.size();) {
        const std::size_t end = end_of_matrix(whole.figures, first);
        std::string body = matrix_head(whole.figures, first, end) + "<tbody>\n";
        std::vector<std::vector<std::size_t>> best;
        for (std::size_t column = first; column < end; ++column) best.push_back(best_choices(whole, column));
        for (std::size_t row = 0; row < whole.rows.size(); ++row) {
            body += html_row_head(whole.rows[row]);
            for (std::size_t column = first; column < end; ++column)
                body += matrix_cell(whole, row, column, best[column - first]);
            body += "</tr>\n";
        }
        text += html_table(in, first == 0 ? caption : "The same, continued.", body + "</tbody>", "matrix");
        first = end;
    }
    return text;
}

}
