// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_section.hpp"

#include <fmt/format.h>

#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

std::string told_cell(const cell& one) {
    return element("td", one.value.count == 0 ? "class=\"num none\"" : "class=\"num\"", fact_text(one.value));
}

}

std::string html_told_table(const section& in, const table& from) {
    // Many figures of few contestants are easier to read as rows.
    if (from.figures.size() <= from.rows.size()) return html_figure_table(in, from);
    std::string body = "<thead><tr><th scope=\"col\">figure</th>";
    for (const table_row& row : from.rows) {
        body +=
            fmt::format("<th scope=\"col\" class=\"num\">{}</th>", html_name(row.who->name, row.part, row.is_baseline));
    }
    body += "</tr></thead>\n<tbody>\n";
    for (std::size_t index = 0; index < from.figures.size(); ++index) {
        body += fmt::format("<tr><th scope=\"row\">{} <span class=\"unit\">{}</span></th>",
                            escaped(from.figures[index].metric), escaped(from.figures[index].unit));
        for (const table_row& row : from.rows) body += told_cell(row.cells[index]);
        body += "</tr>\n";
    }
    const std::string caption =
        from.variant.empty() ? in.found.name : fmt::format("{}: {}", in.found.name, from.variant);
    return html_table(in, caption, body + "</tbody>");
}

}
