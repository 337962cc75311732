// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <fmt/format.h>

#include "report/analysis/judge.hpp"
#include "report/analysis/quotients.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// Maximum number of figures in one table, so that it fits a printed page.
constexpr std::size_t max_figures = 3;

/// The columns of one figure in a full table.
struct figure_column {
    const table& from;
    std::size_t index;
    std::vector<std::size_t> best;
    bool ratio;

    [[nodiscard]] std::string heads() const {
        std::string words = "<th scope=\"col\" class=\"first\">median</th><th scope=\"col\">spread</th>";
        return ratio ? words + "<th scope=\"col\">ratio</th>" : words;
    }

    [[nodiscard]] std::string cells(std::size_t row) const {
        const cell& one = from.rows[row].cells[index];
        const std::string median = escaped(median_text(one));
        std::string words = holds_row(best, row) ? fmt::format("<td class=\"num first best\"><b>{}</b></td>", median)
                                                 : fmt::format("<td class=\"num first{}\">{}</td>",
                                                               one.value.count == 0 ? " none" : "", median);
        words += fmt::format("<td class=\"num spread\">{}</td>", spread_text(one.value));
        if (ratio) words += fmt::format("<td class=\"num\">{}</td>", ratio_text(one.ratio.median));
        return words;
    }
};

/// Head and rows of the figures from `first` up to, not including, `end`.
std::string figure_rows(const table& from, std::size_t first, std::size_t end) {
    std::vector<figure_column> columns;
    std::string groups = "<thead><tr><th scope=\"col\" rowspan=\"2\">contestant</th>";
    std::string heads;
    for (std::size_t index = first; index < end; ++index) {
        const figure& shown = from.figures[index];
        columns.push_back({from, index, best_choices(from, index), has_ratios(from, index)});
        const std::string_view direction = shown.sense == better::larger ? ", larger is better" : "";
        groups += element(
            "th", fmt::format("scope=\"colgroup\" colspan=\"{}\" class=\"group\"", columns.back().ratio ? 3 : 2),
            figure_title(shown) + std::string(direction));
        heads += columns.back().heads();
    }
    std::string body = groups + "</tr><tr>" + heads + "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        body += html_row_head(from.rows[row]);
        for (const figure_column& one : columns) body += one.cells(row);
        body += "</tr>\n";
    }
    return body + "</tbody>";
}

std::string_view role_words(role part) {
    switch (part) {
    case role::ours: return "ours";
    case role::reference: return "reference";
    case role::checked: return "checked";
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

std::string html_row_head(const table_row& row) {
    const std::string_view css = row.part == role::ours ? " class=\"ours\"" : "";
    return fmt::format("<tr{}><th scope=\"row\">{}</th>", css, html_name(row.who->name, row.part, row.is_baseline));
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

std::string html_figure_table(const section& in, const table& from) {
    std::string caption = from.variant.empty() ? in.found.name : fmt::format("{}: {}", in.found.name, from.variant);
    const std::size_t all = from.figures.size();
    const std::size_t tables = (all + max_figures - 1) / max_figures;
    std::string text;
    for (std::size_t part = 0; part < tables; ++part) {
        // Splits evenly: four figures become two and two, not three and one.
        text += html_table(in, caption, figure_rows(from, all * part / tables, all * (part + 1) / tables));
        if (part == 0) caption += ", continued";
    }
    return text;
}

std::string html_quotients(const section& in) {
    const std::vector<quotient_row> rows = quotients_of(in.found);
    if (rows.empty()) return {};
    std::vector<std::string> titles{"figure"};
    for (const quotient& asked : in.found.quotients) titles.push_back("#" + asked.title);
    std::string body = html_head({titles.begin(), titles.end()});
    for (const quotient_row& row : rows) {
        body += "<tr>" + element("th", "scope=\"row\"", row.figure);
        for (const summary& one : row.all) {
            body += element("td", one.count == 0 ? "class=\"num none\"" : "class=\"num\"",
                            fmt::format("{} ({})", ratio_text(one.median), spread_text(one)));
        }
        body += "</tr>\n";
    }
    return html_table(in, "One over the other, in the same round: median (middle half of the rounds)",
                      body + "</tbody>");
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

std::string html_contestants(const section& in) {
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
    return html_table(in, "How each contestant was reached, and what proves that it was the one measured",
                      body + "</tbody>", "words");
}

std::string html_absent(const section& in) {
    const std::vector<left_out_row> left_out = left_out_of(in.found);
    if (in.laid.absent.empty() && left_out.empty()) return {};
    std::string body = html_head({"contestant", "what happened", "why"});
    for (const contestant_result* who : in.laid.absent) {
        const bool failed = who->state == outcome::failed;
        body += fmt::format("<tr><th scope=\"row\">{}</th><td><span class=\"tag {}\">{}</span></td><td>{}</td></tr>\n",
                            escaped(who->name), failed ? "failed" : "missing", failed ? "failed" : "missing",
                            escaped(who->reason.empty() ? "no reason given" : who->reason));
    }
    for (const left_out_row& row : left_out) {
        body += fmt::format("<tr><th scope=\"row\">{}</th><td><span class=\"tag missing\">left out</span> of {}</td>"
                            "<td>{}</td></tr>\n",
                            escaped(row.who->name), escaped(row.parts), escaped(row.reason));
    }
    return html_table(in, "Not measured", body + "</tbody>", "words");
}

}
