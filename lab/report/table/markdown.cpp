// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/table/markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/figure_rounds.hpp"
#include "report/analysis/judge.hpp"
#include "report/analysis/layout.hpp"
#include "report/analysis/standings.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t max_columns = 7;

constexpr std::string_view marks = R"(|*_<>`\[]!&~#)";

/// Escapes text so that it cannot end a cell or start emphasis, a link, an image, an entity or an element.
std::string in_cell(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        if (marks.find(letter) != std::string_view::npos) safe += '\\';
        safe += letter == '\n' || letter == '\r' ? ' ' : letter;
    }
    return safe;
}

/// Text as code, enclosed in more backticks than it has in a row.
std::string as_code(std::string_view text) {
    std::string words(text);
    std::replace_if(
        words.begin(), words.end(), [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
    std::size_t longest = 0;
    for (std::size_t at = words.find('`'); at != std::string::npos;) {
        const std::size_t end = std::min(words.find_first_not_of('`', at), words.size());
        longest = std::max(longest, end - at);
        at = words.find('`', end);
    }
    const std::string fence(longest + 1, '`');
    // The spaces separate a backtick at an end of the text from the fence.
    const std::string_view blank = longest == 0 ? "" : " ";
    return fmt::format("{}{}{}{}{}", fence, blank, words, blank, fence);
}

std::string row_name(const table_row& row) {
    std::string name = in_cell(row.who->name);
    if (!is_choice(row.part)) {
        return fmt::format("*{}* ({}{})", name, row.part == role::reference ? "reference" : "with checks",
                           row.is_baseline ? ", baseline" : "");
    }
    return row.is_baseline ? name + " (baseline)" : name;
}

std::string cell_text(const table& from, std::size_t row, std::size_t index, const std::vector<std::size_t>& best) {
    const cell& one = from.rows[row].cells[index];
    if (one.value.count == 0) return "–";
    if (from.figures[index].is_told()) return fact_text(one.value);
    std::string text = median_text(one);
    if (one.ratio.count != 0 && !from.rows[row].is_baseline) text += " " + ratio_text(one.ratio.median);
    return holds_row(best, row) ? fmt::format("**{}**", text) : text;
}

std::string column_title(const figure& column) {
    std::string title = figure_name(column);
    if (!column.unit.empty()) title += ", " + column.unit;
    if (column.sense == better::larger) title += " (larger is better)";
    return in_cell(title);
}

std::string grid_of(const table& from, const std::vector<std::size_t>& columns) {
    std::string head = "| |", line = "| --- |";
    for (const std::size_t index : columns) {
        head += fmt::format(" {} |", column_title(from.figures[index]));
        line += " --- |";
    }
    std::vector<std::vector<std::size_t>> best;
    for (const std::size_t index : columns) best.push_back(best_choices(from, index));
    std::string text = head + "\n" + line + "\n";
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        const auto measured = [&](std::size_t index) { return from.rows[row].cells[index].value.count != 0; };
        if (std::none_of(columns.begin(), columns.end(), measured)) continue;
        text += fmt::format("| {} |", row_name(from.rows[row]));
        for (std::size_t place = 0; place < columns.size(); ++place) {
            text += fmt::format(" {} |", cell_text(from, row, columns[place], best[place]));
        }
        text += '\n';
    }
    return text;
}

void add_primary_grids(std::string& text, const table& from) {
    std::vector<std::size_t> columns;
    for (std::size_t index = 0; index < from.figures.size(); ++index) {
        if (from.figures[index].primary) columns.push_back(index);
    }
    // Splits the columns over several tables of nearly the same width.
    const std::size_t tables = (columns.size() + max_columns - 1) / max_columns;
    for (std::size_t begin = 0, number = 0; number < tables; ++number) {
        const std::size_t end = columns.size() * (number + 1) / tables;
        text += grid_of(from, {columns.begin() + static_cast<std::ptrdiff_t>(begin),
                               columns.begin() + static_cast<std::ptrdiff_t>(end)});
        text += '\n';
        begin = end;
    }
}

std::string versions_text(const experiment_result& found) {
    std::string text;
    for (const contestant_result& who : found.contestants) {
        if (who.version.empty() || who.state != outcome::measured) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", in_cell(who.name), in_cell(who.version));
    }
    return text;
}

std::string absent_text(const experiment_result& found) {
    std::string text;
    for (const contestant_result& who : found.contestants) {
        if (who.state == outcome::measured) continue;
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", in_cell(who.name), in_cell(who.reason));
    }
    return text;
}

}

std::string markdown_provenance(const result& found, const experiment_result& experiment) {
    const machine_info& on = found.machine;
    std::string text = fmt::format("Medians of {}", count_text(experiment.rounds, "round"));
    if (const std::string others = other_rounds_text(other_rounds(experiment, which_figures::primary));
        !others.empty()) {
        text += fmt::format(" ({})", in_cell(others));
    }
    if (!experiment.baseline.empty()) {
        text += fmt::format("; × is the ratio to {} in the same round", in_cell(experiment.baseline));
    }
    text += fmt::format("; bold figures are the best choice or level with it, "
                        "by at least five rounds. {}, {}, {}, {}, {}, {} {}, commit {}, {}.",
                        in_cell(on.cpu), count_text(on.cores, "core"), in_cell(on.kernel), in_cell(on.system),
                        in_cell(on.c_library), in_cell(on.compiler), in_cell(on.flags),
                        on.commit.empty() ? "unknown" : in_cell(on.commit), in_cell(found.started_at.substr(0, 10)));
    if (const std::string mark = build_mark(on); !mark.empty()) text += fmt::format(" **{}**.", mark);
    if (const std::string versions = versions_text(experiment); !versions.empty()) {
        text += fmt::format(" Versions: {}.", versions);
    }
    if (const std::string absent = absent_text(experiment); !absent.empty()) {
        text += fmt::format(" Not measured: {}.", absent);
    }
    for (const left_out_row& row : left_out_of(experiment)) {
        text +=
            fmt::format(" {} was left out of {}: {}.", in_cell(row.who->name), in_cell(row.parts), in_cell(row.reason));
    }
    return text + (found.command.empty() ? "\n" : fmt::format(" Command: {}.\n", as_code(found.command)));
}

std::string markdown_tables(const result& found) {
    std::string text;
    for (const experiment_result& each : found.experiments) {
        const layout laid = lay_out(each);
        const std::size_t before = text.size();
        add_primary_grids(text, laid.whole);
        for (const table& told : laid.told) add_primary_grids(text, told);
        if (text.size() == before) continue;
        text += markdown_provenance(found, each) + "\n";
    }
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

std::string markdown_distance(const result& found) {
    const standings counted = standings_of(found);
    std::string text = "| experiment | leads | level | trails by up to 10 % | trails by more | figures |\n"
                       "| --- | --- | --- | --- | --- | --- |\n";
    const auto add = [&](std::string_view name, const standing_counts& counts) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, counts.leads, counts.level, counts.trails_little,
                            counts.trails_much, counts.figures());
    };
    for (const experiment_standing& one : counted.experiments) add(in_cell(one.experiment), one.counts);
    add("all", counted.all);
    if (counted.all_but_vectors) add("all but vectors", *counted.all_but_vectors);
    return text;
}

std::string markdown_trailing(const result& found) {
    const standings counted = standings_of(found);
    std::string text = "| experiment | figure | best of ours | best of the others | distance |\n"
                       "| --- | --- | --- | --- | --- |\n";
    for (std::size_t place = 0; place < std::min(counted.trails.size(), longest_distances); ++place) {
        const trailing_figure& one = counted.trails[place];
        text += fmt::format("| {} | {} | {}: {} {} | {}: {} {} | {} |\n", in_cell(one.experiment),
                            in_cell(figure_name(one)), in_cell(one.ours), value_text(one.ours_median),
                            in_cell(one.unit), in_cell(one.other), value_text(one.other_median), in_cell(one.unit),
                            distance_text(one.ratio, one.ours_median, one.other_median));
    }
    return text;
}

}
