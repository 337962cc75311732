// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/layout.hpp"
#include "report/numbers.hpp"
#include "report/result/words.hpp"
#include "report/table/text.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

tint tint_of(change verdict) {
    switch (verdict) {
    case change::better: return tint::good;
    case change::worse: return tint::bad;
    case change::drifted:
    case change::moved: return tint::warning;
    case change::not_comparable:
    case change::too_few:
    case change::not_available: return tint::faint;
    case change::same: break;
    }
    return tint::none;
}

/// The mark comes first, so that it is visible even when the line is long.
std::string_view mark_of(change verdict) {
    switch (verdict) {
    case change::better: return "+ ";
    case change::worse: return "! ";
    case change::drifted: return "~ ";
    case change::moved: return "* ";
    case change::not_comparable:
    case change::too_few:
    case change::not_available: return "? ";
    case change::same: break;
    }
    return "  ";
}

std::string row_name(const compared_metric& row) {
    return row.variant.empty() ? row.metric : fmt::format("{}, {}", row.metric, row.variant);
}

std::string ratio_step(const compared_metric& row) {
    return fmt::format("{} → {}", ratio_text(row.ratio_before.median), ratio_text(row.ratio_after.median));
}

/// Facts in full, without their spread, which has a column of its own.
std::string side_text(const compared_metric& row, const summary& side) {
    if (row.sense != better::neither) return value_text(side.median);
    return fact_text({side.median, side.median, side.median, side.count});
}

/// One row. A narrow terminal shows the first columns and the verdict.
std::vector<grid_cell> cells_of(const compared_metric& row, std::size_t columns, std::size_t name_width) {
    const tint shade = tint_of(row.verdict);
    std::vector<grid_cell> cells{{std::string(mark_of(row.verdict)) + clipped(row_name(row), name_width), shade},
                                 {side_text(row, row.before)},
                                 {side_text(row, row.after)},
                                 {ratio_text(row.factor()), shade},
                                 {row.verdict == change::same ? "" : std::string(word_of(row.verdict)), shade},
                                 {ratio_step(row)},
                                 {row.unit, tint::faint},
                                 {spread_text(row.before), tint::faint},
                                 {spread_text(row.after), tint::faint}};
    cells.resize(columns);
    return cells;
}

text_grid grid_of(const std::vector<const compared_metric*>& rows, std::size_t columns, std::size_t name_width) {
    std::vector<std::string> titles{"  figure", "old",  "new",          "new/old",     "verdict",
                                    "ratios",   "unit", "old's spread", "new's spread"};
    titles.resize(columns);
    text_grid grid;
    grid.head(std::move(titles));
    for (const compared_metric* row : rows) grid.add(cells_of(*row, columns, name_width));
    return grid;
}

std::string contestant_table(const std::vector<const compared_metric*>& rows, std::size_t width, colour colours) {
    std::size_t columns = 9;
    const std::size_t name_width = std::max<std::size_t>(width / 3, 12);
    while (columns > 4 && grid_of(rows, columns, name_width).width() > width) --columns;
    const std::string title = fmt::format("{} · {}", rows.front()->experiment, rows.front()->contestant);
    return "\n" + painted(clipped(title, width), tint::strong, colours) + "\n" +
           grid_of(rows, columns, name_width).str(colours);
}

std::string list_of(std::string_view title, const std::vector<std::string>& lines, tint shade, std::size_t width,
                    colour colours) {
    if (lines.empty()) return {};
    std::string text = "\n" + painted(title, tint::strong, colours) + "\n";
    for (const std::string& line : lines) text += "  " + painted(wrapped(line, width - 2, 4), shade, colours) + "\n";
    return text;
}

/// Repeats what is better or worse at the end, where the reader of a long list arrives.
std::string changes(const comparison& found, std::size_t width, colour colours) {
    std::string text;
    for (const compared_metric& row : found.rows) {
        if (row.verdict != change::better && row.verdict != change::worse) continue;
        const std::string line = fmt::format("{}{} / {} / {}: {} ({})", mark_of(row.verdict), row.experiment,
                                             row.contestant, row_name(row), ratio_text(row.factor()), ratio_step(row));
        text += painted(wrapped(line, width, 4), tint_of(row.verdict), colours) + "\n";
    }
    if (text.empty()) return text;
    return "\n" +
           painted(wrapped("Better or worse: new/old (ratio to the baseline, old → new)", width), tint::strong,
                   colours) +
           "\n" + text;
}

std::string totals(const comparison& found) {
    std::string text =
        fmt::format("{}: {} better, {} worse, {} drifted with the machine, {} moved, {} the same",
                    count_text(found.rows.size(), "figure"), found.count(change::better), found.count(change::worse),
                    found.count(change::drifted), found.count(change::moved), found.count(change::same));
    if (const std::size_t count = found.count(change::not_comparable); count != 0) {
        text += fmt::format("; {} not comparable: no baseline in the same round", count);
    }
    if (const std::size_t count = found.count(change::too_few); count != 0) {
        text += fmt::format("; {} without a verdict: fewer than {} rounds in one result", count, min_compared_rounds);
    }
    if (const std::size_t count = found.count(change::not_available); count != 0) {
        text += fmt::format("; {} without a verdict: a summary file has no rounds", count);
    }
    return text;
}

}

std::string text_tables(const comparison& found, text_style style) {
    const std::size_t width = std::max(style.width, min_text_width);
    const colour colours = style.colours;
    std::string text = wrapped("old: " + found.before_name, width, 5) + "\n";
    text += wrapped("new: " + found.after_name, width, 5) + "\n";
    text += list_of("Differs besides the code (old / new)", found.warnings, tint::warning, width, colours);
    for (std::size_t first = 0; first < found.rows.size();) {
        std::vector<const compared_metric*> rows;
        const compared_metric& head = found.rows[first];
        for (; first < found.rows.size() && found.rows[first].experiment == head.experiment &&
               found.rows[first].contestant == head.contestant;
             ++first) {
            rows.push_back(&found.rows[first]);
        }
        text += contestant_table(rows, width, colours);
    }
    text += list_of("Ambiguous, not compared: recorded more than once under one name", found.ambiguous, tint::warning,
                    width, colours);
    text += list_of("Only in the old result", found.only_before, tint::none, width, colours);
    text += list_of("Only in the new result", found.only_after, tint::none, width, colours);
    text += changes(found, width, colours);
    text += "\n" + wrapped(totals(found), width) + "\n";
    const std::string legend = fmt::format(
        "A change counts when the rounds of old and new do not overlap (every round of the one is below every round "
        "of the other) and the medians differ by more than {:.0f} %: for times, of the ratios to the baseline of "
        "the same round; for memory and facts, of the figures. + better; ! worse; ~ only the absolute time changed, "
        "so the machine drifted; * changed, and neither is better; ? no verdict; all others are the same",
        100 * min_compared_change);
    return text + painted(wrapped(legend, width), tint::faint, colours) + "\n";
}

}
