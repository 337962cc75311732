// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/table/text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/distances.hpp"
#include "report/analysis/figure_rounds.hpp"
#include "report/analysis/judge.hpp"
#include "report/analysis/layout.hpp"
#include "report/analysis/quotients.hpp"
#include "report/analysis/ranking.hpp"
#include "report/numbers.hpp"
#include "report/table/text_grid.hpp"
#include "report/table/versions.hpp"

namespace tenure::lab {

namespace {

/// What the tables of one experiment share.
struct context {
    const experiment_result& found;
    std::string mark; ///< of the build; empty for a normal build
    std::size_t width;
    colour colours;
};

/// The sign before a name, two columns wide.
std::string_view sign_of(role part, bool is_baseline) {
    if (is_baseline) return "= ";
    switch (part) {
    case role::ours: return "> ";
    case role::baseline: return "= ";
    case role::reference: return "~ ";
    case role::checked: return "+ ";
    case role::peer: break;
    }
    return "  ";
}

tint tint_of(role part) {
    if (part == role::ours) return tint::strong;
    return is_choice(part) ? tint::none : tint::faint;
}

std::string paragraph(const context& in, std::string_view text, tint shade = tint::none, std::size_t indent = 2) {
    return painted(wrapped(text, in.width, indent), shade, in.colours) + "\n";
}

/// The columns of one figure: median with a star for the best, spread, ratio.
struct figure_columns {
    const table& from;
    std::size_t index;
    std::vector<std::size_t> best;
    bool spread, ratio;

    [[nodiscard]] std::size_t span() const { return 1U + (spread ? 1U : 0U) + (ratio ? 1U : 0U); }

    [[nodiscard]] bool is_told() const { return from.figures[index].is_told(); }

    void head(std::vector<std::string>& titles) const {
        titles.emplace_back(is_told() ? "" : "median ");
        if (spread) titles.emplace_back("spread");
        if (ratio) titles.emplace_back("ratio");
    }

    void add(std::vector<grid_cell>& cells, std::size_t row) const {
        const cell& one = from.rows[row].cells[index];
        if (is_told()) return cells.push_back({fact_text(one.value)});
        const bool is_best = holds_row(best, row);
        cells.push_back({median_text(one) + (is_best ? "*" : " "), is_best ? tint::good : tint::none});
        if (spread) cells.push_back({spread_text(one.value), tint::faint});
        if (ratio) cells.push_back({ratio_text(one.ratio.median), is_best ? tint::good : tint::none});
    }
};

text_grid make_grid(const context& in, const table& from, std::size_t first, std::size_t count, bool spread,
                    bool ratio) {
    const std::size_t longest = std::max<std::size_t>(in.width / 3, 18);
    text_grid grid;
    std::vector<figure_columns> columns;
    // Figures without comparison have one column each and need no second line of titles.
    const bool told = from.figures[first].is_told();
    grid.group(told ? "  contestant" : "", 1);
    std::vector<std::string> titles{"  contestant"};
    for (std::size_t index = first; index < first + count; ++index) {
        const figure& shown = from.figures[index];
        const bool compared = !shown.is_told();
        columns.push_back(
            {from, index, best_choices(from, index), spread && compared, ratio && compared && has_ratios(from, index)});
        const std::string_view hint = shown.sense == better::larger ? " (larger is better)" : "";
        const std::string title = figure_title(shown) + std::string(hint);
        grid.group(clipped(title, in.width - longest - 4), columns.back().span());
        columns.back().head(titles);
    }
    if (!told) grid.head(std::move(titles));
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        const role part = from.rows[row].part;
        std::vector<grid_cell> cells{
            {std::string(sign_of(part, from.rows[row].is_baseline)) + clipped(from.rows[row].who->name, longest - 2),
             tint_of(part)}};
        for (const figure_columns& one : columns) one.add(cells, row);
        grid.add(std::move(cells));
    }
    return grid;
}

/// As many figures side by side as the width permits. The spread is dropped first when not even one fits with it.
std::string grids(const context& in, const table& from, bool ratio) {
    std::string text;
    for (std::size_t first = 0; first < from.figures.size();) {
        const bool spread = make_grid(in, from, first, 1, true, ratio).width() <= in.width;
        std::size_t count = 1;
        while (first + count < from.figures.size() &&
               make_grid(in, from, first, count + 1, spread, ratio).width() <= in.width) {
            ++count;
        }
        if (first != 0) text += '\n';
        text += make_grid(in, from, first, count, spread, ratio).str(in.colours);
        first += count;
    }
    return text;
}

std::string heading(const context& in, std::string_view title, std::string_view variant = {}) {
    std::string words = fmt::format("{} · {}", in.found.name, title);
    if (!variant.empty()) words += fmt::format(" · {}", variant);
    std::string text = "\n" + painted(clipped(words, in.width), tint::strong, in.colours) + "\n";
    if (in.mark.empty()) return text;
    return text + painted(fmt::format("[{}]", in.mark), tint::warning, in.colours) + "\n";
}

std::string titled(const context& in, std::string_view title, const table& from, bool ratio) {
    if (from.rows.empty()) return {};
    std::string text = heading(in, title, from.variant) + grids(in, from, ratio);
    const bool timed = from.figures.front().kind == figure_kind::timed && !from.figures.front().is_told();
    const std::string versions = timed ? versions_of(from) : std::string();
    return versions.empty() ? text : text + paragraph(in, versions, tint::faint);
}

text_grid distance_grid(const context& in, const std::vector<distance_view>& views, std::size_t columns) {
    text_grid grid;
    const auto kept = [columns](auto cells) {
        cells.resize(std::min(cells.size(), columns));
        return cells;
    };
    grid.head(
        kept(std::vector<std::string>{"  contestant", "usual", "share", "distinct", "variant", "lowest", "highest"}));
    for (const distance_view& view : views) {
        const distance_summary& found = view.found;
        const role part = role_of(*view.who, in.found.baseline);
        grid.add(kept(std::vector<grid_cell>{
            {std::string(sign_of(part, view.who->name == in.found.baseline)) + clipped(view.who->name, in.width / 3),
             tint_of(part)},
            {integer_text(found.usual)},
            {share_text(found.usual_count, found.count)},
            {integer_text(static_cast<std::int64_t>(found.distinct))},
            {fmt::format("{}", fmt::join(view.variants, "+"))},
            {integer_text(found.lowest)},
            {integer_text(found.highest)}}));
    }
    return grid;
}

std::string distance_table(const context& in) {
    const std::vector<distance_view> views = distances_of(in.found);
    if (views.empty()) return {};
    std::size_t columns = 7;
    while (columns > 2 && distance_grid(in, views, columns).width() > in.width) --columns;
    const std::string rows = distance_grid(in, views, columns).str(in.colours);
    return heading(in, "distance from the previous allocation, bytes") + rows;
}

std::string quotient_table(const context& in) {
    const std::vector<quotient_row> rows = quotients_of(in.found);
    if (rows.empty()) return {};
    text_grid grid;
    std::vector<std::string> titles{"  figure"};
    for (const quotient& asked : in.found.quotients) titles.push_back(asked.title);
    grid.head(std::move(titles));
    for (const quotient_row& row : rows) {
        std::vector<grid_cell> cells{{"  " + clipped(row.figure, in.width / 3)}};
        for (const summary& one : row.all) cells.push_back({ratio_text(one.median)});
        grid.add(std::move(cells));
    }
    return heading(in, "one over the other, in the same round") + grid.str(in.colours);
}

std::string absent_rows(const context& in, const layout& laid) {
    std::string text;
    for (const contestant_result* who : laid.absent) {
        const bool failed = who->state == outcome::failed;
        const std::string line = fmt::format("{} {}: {}", failed ? "FAILED " : "MISSING", who->name,
                                             who->reason.empty() ? "no reason given" : who->reason);
        text += paragraph(in, line, failed ? tint::bad : tint::warning, 8);
    }
    for (const left_out_row& row : left_out_of(in.found)) {
        const std::string line = fmt::format("LEFT OUT {} of {}: {}", row.who->name, row.parts, row.reason);
        text += paragraph(in, line, tint::warning, 8);
    }
    return text.empty() ? text : "\n" + text;
}

std::string rank_lines(const context& in) {
    if (in.found.ranking_rule.empty() && in.found.ranking.empty()) return {};
    const std::vector<ranked> order = in.found.ranking.empty() ? rank(in.found) : std::vector<ranked>{};
    if (in.found.ranking.empty() && order.empty()) return {};
    std::string text = heading(in, "rank");
    if (!in.found.ranking_rule.empty()) text += paragraph(in, in.found.ranking_rule, tint::faint, 0);
    if (!in.found.ranking.empty()) {
        for (std::size_t place = 0; place < in.found.ranking.size(); ++place) {
            text += fmt::format("{:>3}. {}\n", place + 1, clipped(in.found.ranking[place], in.width - 5));
        }
        return text;
    }
    text_grid grid;
    grid.head({"     contestant", "score", "figures"});
    std::size_t place = 0;
    for (const ranked& one : order) {
        grid.add({{fmt::format("{:>3}. {}", ++place, clipped(one.name, in.width - 24))},
                  {ratio_text(one.score)},
                  {fmt::format("{} of {}", one.measured, one.possible)}});
    }
    return text + grid.str(in.colours);
}

std::string legend(const context& in, const layout& laid) {
    std::string text =
        "> ours; = baseline; ~ reference, not a choice; + ours with checks, not a choice; * best choice: nobody else "
        "leads it, round by round; spread: the middle half of the rounds; ratio: to the baseline of the same round";
    if (!laid.has_baseline && !in.found.baseline.empty()) {
        text += fmt::format("; there are no ratios, because the baseline {} was not measured", in.found.baseline);
    }
    return "\n" + paragraph(in, text, tint::faint, 0);
}

std::string experiment_head(const context& in) {
    std::string text = painted(in.found.name, tint::strong, in.colours) + "\n";
    text += paragraph(in, in.found.question, tint::none, 0);
    std::string facts = count_text(in.found.rounds, "round");
    if (const std::string others = other_rounds_text(other_rounds(in.found, which_figures::compared));
        !others.empty()) {
        facts += fmt::format(" ({})", others);
    }
    for (const parameter& given : in.found.parameters) facts += fmt::format(", {} {}", given.name, given.value);
    text += paragraph(in, facts, tint::faint, 0);
    const std::string doubt = doubt_of(in.found);
    return doubt.empty() ? text : text + paragraph(in, doubt, tint::warning, 0);
}

}

std::string text_tables(const experiment_result& found, const machine_info& machine, text_style style) {
    const context in{found, build_mark(machine), std::max(style.width, min_text_width), style.colours};
    const layout laid = lay_out(found);
    std::string text = experiment_head(in);
    for (const table& one : laid.timed) text += titled(in, "times", one, laid.has_baseline);
    for (const table& one : laid.memory) text += titled(in, "memory", one, laid.has_baseline);
    for (const table& one : laid.told) text += titled(in, "further figures", one, false);
    text += quotient_table(in);
    text += distance_table(in);
    text += absent_rows(in, laid);
    text += rank_lines(in);
    return text + legend(in, laid);
}

std::string text_tables(const result& found, text_style style) {
    std::string text;
    for (const experiment_result& one : found.experiments) {
        if (!text.empty()) text += '\n';
        text += text_tables(one, found.machine, style);
    }
    text += text_conclusions(found, style);
    if (!found.complete) {
        text += "\n" +
                painted("Interrupted: only the finished measurements are included.", tint::warning, style.colours) +
                "\n";
    }
    return text;
}

}
