// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/layout.hpp"
#include "report/analysis/standings.hpp"
#include "report/numbers.hpp"
#include "report/table/text.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

tint tint_of(standing stands) {
    if (stands == standing::leads) return tint::good;
    return stands == standing::trails ? tint::bad : tint::none;
}

/// A primary figure with the rows that have it; rows are those of `from`.
struct primary_row {
    const table& from;
    verdict found;
};

/// The figures that the experiment declared. One that only a single contestant has is shown without an opponent.
std::vector<primary_row> primary_rows(const layout& laid) {
    std::vector<primary_row> rows;
    for (const verdict& one : verdicts_of(laid.whole)) {
        if (laid.whole.figures[one.figure_index].primary) rows.push_back({laid.whole, one});
    }
    for (const table& told : laid.told) {
        for (const verdict& one : verdicts_of(told)) {
            const figure& shown = told.figures[one.figure_index];
            if (shown.primary && shown.alone && shown.kind != figure_kind::fact) rows.push_back({told, one});
        }
    }
    return rows;
}

text_grid primary_grid(const std::vector<primary_row>& rows, std::size_t figure_width, std::size_t name_width,
                       std::size_t columns) {
    const auto kept = [columns](auto cells) {
        cells.resize(std::min(cells.size(), columns));
        return cells;
    };
    text_grid grid;
    grid.head(kept(std::vector<std::string>{"  primary figure", "distance", "ours", "median", "other's", "best of ours",
                                            "of the others"}));
    for (const primary_row& row : rows) {
        const verdict& one = row.found;
        const figure& shown = row.from.figures[one.figure_index];
        const auto median = [&](std::size_t who) {
            return who == no_row ? std::string("–")
                                 : value_text(row.from.rows[who].cells[one.figure_index].value.median);
        };
        const auto name = [&](std::size_t who) {
            return who == no_row ? std::string("–") : clipped(row.from.rows[who].who->name, name_width);
        };
        const auto distance = [&](const verdict& of) {
            if (of.ours == no_row || of.other == no_row) return std::string("–");
            const auto number = [&](std::size_t who) { return row.from.rows[who].cells[of.figure_index].value.median; };
            return distance_text(of.against, number(of.ours), number(of.other));
        };
        const std::string title =
            shown.unit.empty() ? figure_name(shown) : fmt::format("{}, {}", figure_name(shown), shown.unit);
        grid.add(kept(std::vector<grid_cell>{{"  " + clipped(title, figure_width)},
                                             {distance(one), tint_of(one.stands)},
                                             {std::string(word_of(one.stands)), tint_of(one.stands)},
                                             {median(one.ours)},
                                             {median(one.other)},
                                             {name(one.ours)},
                                             {name(one.other)}}));
    }
    return grid;
}

std::string primary_table(const layout& laid, std::size_t width, colour colours) {
    const std::vector<primary_row> rows = primary_rows(laid);
    if (rows.empty()) return {};
    // Shortens names first, then drops columns.
    const std::size_t figure_width = width * 3 / 10 - 2;
    const bool roomy = primary_grid(rows, figure_width, width / 5, 7).width() <= width;
    const std::size_t name_width = roomy ? width / 5 : width / 7;
    std::size_t columns = 7;
    while (columns > 3 && primary_grid(rows, figure_width, name_width, columns).width() > width) --columns;
    return primary_grid(rows, figure_width, name_width, columns).str(colours);
}

/// Sums up the tables above in a few lines.
std::string conclusion_of(const experiment_result& found, text_style style) {
    const std::size_t width = std::max(style.width, min_text_width);
    const layout laid = lay_out(found);
    std::string text = painted(found.name, tint::strong, style.colours) + "\n";
    std::vector<std::string> sentences = conclusions(found, laid);
    if (const std::string doubt = doubt_of(found); !doubt.empty()) sentences.push_back(doubt);
    for (const std::string& words : sentences) text += "  " + wrapped(words, width - 2, 2) + "\n";
    return text + primary_table(laid, width, style.colours);
}

text_grid counts_grid(const standings& found, std::size_t width, std::size_t columns) {
    const auto kept = [columns](auto cells) {
        cells.resize(std::min(cells.size(), columns));
        return cells;
    };
    text_grid grid;
    grid.head(kept(std::vector<std::string>{"  experiment", "leads", "level", "≤10 %", ">10 %", "all"}));
    const auto add = [&](std::string_view name, const standing_counts& counts, tint shade) {
        std::vector<grid_cell> cells{{"  " + clipped(name, width / 4), shade}};
        for (const std::size_t count :
             {counts.leads, counts.level, counts.trails_little, counts.trails_much, counts.figures()}) {
            cells.push_back({std::to_string(count), shade});
        }
        grid.add(kept(std::move(cells)));
    };
    for (const experiment_standing& one : found.experiments) add(one.experiment, one.counts, tint::none);
    add("all", found.all, tint::strong);
    if (found.all_but_vectors) add("all but vectors", *found.all_but_vectors, tint::strong);
    return grid;
}

/// A narrow terminal omits the sum of the others.
std::string counts_table(const standings& found, std::size_t width, colour colours) {
    const text_grid whole = counts_grid(found, width, 6);
    return (whole.width() <= width ? whole : counts_grid(found, width, 5)).str(colours);
}

std::string longest_lines(const standings& found, std::size_t width) {
    std::string text;
    const std::size_t shown = std::min(found.trails.size(), longest_distances);
    for (std::size_t place = 0; place < shown; ++place) {
        const trailing_figure& one = found.trails[place];
        const std::string words =
            fmt::format("{} {}: {}: {} {}, {} {}{}{}", distance_text(one.ratio, one.ours_median, one.other_median),
                        one.experiment, figure_name(one), one.ours, value_text(one.ours_median), one.other,
                        value_text(one.other_median), one.unit.empty() ? "" : " ", one.unit);
        text += "  " + wrapped(words, width - 2, 4) + "\n";
    }
    return text;
}

std::string standings_text(const standings& found, std::size_t width, colour colours) {
    if (found.experiments.empty()) return {};
    std::string text = "\n" + painted("Distance to the best of the others", tint::strong, colours) + "\n";
    text +=
        painted(wrapped("In how many figures the best of ours leads, is level, trails by up to 10 %, trails by more",
                        width),
                tint::faint, colours) +
        "\n" + counts_table(found, width, colours);
    if (found.trails.empty()) return text;
    text += "\n" + painted("The longest distances", tint::strong, colours) + "\n";
    text += painted(wrapped("Distance within a round (above 1: ours is worse; from 0: the other's figure is 0), and "
                            "the medians of both",
                            width),
                    tint::faint, colours) +
            "\n";
    return text + longest_lines(found, width);
}

}

std::string text_conclusions(const result& found, text_style style) {
    std::string text;
    for (const experiment_result& one : found.experiments) text += conclusion_of(one, style);
    if (text.empty()) return text;
    text = "\n" + painted("In short", tint::strong, style.colours) + "\n\n" + text;
    return text + standings_text(standings_of(found), std::max(style.width, min_text_width), style.colours);
}

}
