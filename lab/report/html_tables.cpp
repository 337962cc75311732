// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

std::string row_head(const table_row& row) {
    const std::string_view css = row.part == role::ours ? " class=\"ours\"" : "";
    return fmt::format("<tr{}><th scope=\"row\">{}</th>", css, html_name(row.who->name, row.part, row.is_baseline));
}

/// How near a value is to the best choice of its column: three shades, the rest plain.
std::string_view shade_of(double value, double best, better sense) {
    if (!(value > 0.0) || !(best > 0.0)) return "";
    const double times = sense == better::larger ? best / value : value / best;
    if (times <= 1.05) return "s3";
    if (times <= 1.25) return "s2";
    return times <= 2.0 ? "s1" : "";
}

std::string matrix_cell(const table& from, std::size_t row, std::size_t column) {
    const cell& one = from.rows[row].cells[column];
    if (one.value.count == 0) return "<td class=\"none\">–</td>";
    const std::size_t best = best_row(from, column);
    const bool is_best = row == best;
    const bool is_reference = from.rows[row].part == role::reference;
    const double best_value = best == no_row ? 0.0 : from.rows[best].cells[column].value.median;
    const std::string_view shade =
        is_reference ? std::string_view() : shade_of(one.value.median, best_value, from.figures[column].sense);
    const std::string words = one.ratio.count != 0 ? ratio_text(one.ratio.median) : value_text(one.value.median);
    return fmt::format("<td class=\"num {}{}\" title=\"{} {}\">{}</td>", shade, is_best ? " best" : "",
                       value_text(one.value.median), escaped(from.figures[column].unit),
                       is_best ? fmt::format("<b>{}</b>", words) : words);
}

/// Columns of one matrix: what fits a page of paper.
constexpr std::size_t most_columns = 10;

/// The end of the figures that share a variant with the first.
std::size_t end_of_variant(const std::vector<figure>& figures, std::size_t first) {
    std::size_t end = first + 1;
    while (end < figures.size() && figures[end].variant == figures[first].variant) ++end;
    return end;
}

/// As many whole variants as a matrix takes, at least one.
std::size_t end_of_matrix(const std::vector<figure>& figures, std::size_t first) {
    std::size_t end = end_of_variant(figures, first);
    while (end < figures.size() && end_of_variant(figures, end) - first <= most_columns) {
        end = end_of_variant(figures, end);
    }
    return end;
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

/// The columns of one figure in a full table.
struct figure_column {
    const table& from;
    std::size_t index;
    std::size_t best;
    bool ratio;

    [[nodiscard]] std::string heads() const {
        std::string words = "<th scope=\"col\" class=\"first\">median</th><th scope=\"col\">spread</th>";
        return ratio ? words + "<th scope=\"col\">ratio</th>" : words;
    }

    [[nodiscard]] std::string cells(std::size_t row) const {
        const cell& one = from.rows[row].cells[index];
        const std::string median = value_text(one.value.median);
        std::string words =
            row == best ? fmt::format("<td class=\"num first best\"><b>{}</b></td>", median)
                        : fmt::format("<td class=\"num first{}\">{}</td>", one.value.count == 0 ? " none" : "", median);
        words += fmt::format("<td class=\"num spread\">{}</td>", spread_text(one.value));
        if (ratio) words += fmt::format("<td class=\"num\">{}</td>", ratio_text(one.ratio.median));
        return words;
    }
};

std::string_view role_words(role part) {
    switch (part) {
    case role::ours: return "ours";
    case role::reference: return "limit";
    case role::baseline:
    case role::peer: break;
    }
    return {};
}

}

std::string html_name(std::string_view name, role part, bool is_baseline) {
    std::string words = escaped(name);
    const std::string_view what = role_words(part);
    if (!what.empty()) words += fmt::format(" <span class=\"tag {}\">{}</span>", what, what);
    if (is_baseline) words += " <span class=\"tag\">baseline</span>";
    return words;
}

std::string html_head(const std::vector<std::string_view>& titles) {
    std::string words = "<thead><tr>";
    for (const std::string_view title : titles) {
        const bool number = title.starts_with('#');
        words += element("th", number ? "scope=\"col\" class=\"num\"" : "scope=\"col\"", title.substr(number ? 1 : 0));
    }
    return words + "</tr></thead>\n<tbody>\n";
}

std::string html_table(const section& in, std::string_view caption, std::string_view body, std::string_view css) {
    std::string words = escaped(caption);
    if (!in.mark.empty()) words += fmt::format(" <strong class=\"mark\">{}</strong>", escaped(in.mark));
    return fmt::format("<div class=\"scroll\"><table{}{}{}><caption><span>{}</span></caption>\n{}</table></div>\n",
                       css.empty() ? "" : " class=\"", css, css.empty() ? "" : "\"", words, body);
}

std::string html_ratio_matrix(const section& in) {
    const table& whole = in.laid.whole;
    if (whole.figures.size() < 2 || whole.rows.empty()) return {};
    const std::string what = in.laid.has_baseline
                                 ? fmt::format("Ratio to {} of the same round, median.", in.found.baseline)
                                 : std::string("Medians; there are no ratios, because the baseline was not measured.");
    std::string caption =
        what + " Framed: the best choice; shaded in three steps: within 5\u00a0%, 25\u00a0% and twice of it.";
    if (in.laid.has_baseline) caption += " Without ×: the median, where the baseline has no such figure.";
    std::string text;
    for (std::size_t first = 0; first < whole.figures.size();) {
        const std::size_t end = end_of_matrix(whole.figures, first);
        std::string body = matrix_head(whole.figures, first, end) + "<tbody>\n";
        for (std::size_t row = 0; row < whole.rows.size(); ++row) {
            body += row_head(whole.rows[row]);
            for (std::size_t column = first; column < end; ++column) body += matrix_cell(whole, row, column);
            body += "</tr>\n";
        }
        text += html_table(in, first == 0 ? caption : "The same, continued.", body + "</tbody>", "matrix");
        first = end;
    }
    return text;
}

std::string html_figure_table(const section& in, const table& from) {
    std::vector<figure_column> columns;
    std::string groups = "<thead><tr><th scope=\"col\" rowspan=\"2\">contestant</th>";
    std::string heads;
    for (std::size_t index = 0; index < from.figures.size(); ++index) {
        const figure& shown = from.figures[index];
        columns.push_back({from, index, best_row(from, index), has_ratios(from, index)});
        const std::string_view direction = shown.sense == better::larger ? ", larger is better" : "";
        groups += element(
            "th", fmt::format("scope=\"colgroup\" colspan=\"{}\" class=\"group\"", columns.back().ratio ? 3 : 2),
            figure_title(shown) + std::string(direction));
        heads += columns.back().heads();
    }
    std::string body = groups + "</tr><tr>" + heads + "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        body += row_head(from.rows[row]);
        for (const figure_column& one : columns) body += one.cells(row);
        body += "</tr>\n";
    }
    const std::string caption =
        from.variant.empty() ? in.found.name : fmt::format("{}: {}", in.found.name, from.variant);
    return html_table(in, caption, body + "</tbody>");
}

std::string html_properties(const section& in) {
    std::string text;
    for (const property_table& properties : in.found.properties) {
        std::string body = html_head({properties.columns.begin(), properties.columns.end()});
        for (const std::vector<std::string>& row : properties.rows) {
            body += "<tr>";
            for (std::size_t index = 0; index < row.size(); ++index) {
                body += index == 0 ? element("th", "scope=\"row\"", row[index]) : element("td", "", row[index]);
            }
            body += "</tr>\n";
        }
        text += html_table(in, properties.title, body + "</tbody>", "words");
    }
    return text;
}

std::string html_participants(const section& in) {
    std::string body = html_head({"contestant", "version", "kind", "proof that it ran", "note"});
    for (const contestant_result& who : in.found.contestants) {
        if (who.state != outcome::measured) continue;
        const role part = role_of(who, in.found.baseline);
        body += fmt::format("<tr{}><th scope=\"row\">{}</th>", part == role::ours ? " class=\"ours\"" : "",
                            html_name(who.name, part, who.name == in.found.baseline));
        for (const std::string& words : {who.version, who.kind, who.proof, who.note}) {
            body += element("td", "", words.empty() ? "–" : words);
        }
        body += "</tr>\n";
    }
    return html_table(in, "How each was reached, and what proves that it was the one measured", body + "</tbody>",
                      "words");
}

std::string html_absent(const section& in) {
    if (in.laid.absent.empty()) return {};
    std::string body = html_head({"contestant", "what happened", "why"});
    for (const contestant_result* who : in.laid.absent) {
        const bool failed = who->state == outcome::failed;
        body += fmt::format("<tr><th scope=\"row\">{}</th><td><span class=\"tag {}\">{}</span></td><td>{}</td></tr>\n",
                            escaped(who->name), failed ? "failed" : "missing", failed ? "failed" : "missing",
                            escaped(who->reason.empty() ? "no reason given" : who->reason));
    }
    return html_table(in, "Not measured", body + "</tbody>", "words");
}

}
