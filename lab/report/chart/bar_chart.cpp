// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/bar_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "report/chart/bar_parts.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/html/html_words.hpp"
#include "report/letters.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 440;
constexpr double left = 2;
constexpr double axis_pixels = width - 8;
constexpr double label_height = 17;
constexpr double bar_height = 11;
constexpr double row_gap = 7;
constexpr double axis_height = 20;
constexpr bar_area area{left, bar_height, 0, width};

scale scale_of(const bar_chart& chart) {
    std::vector<double> values;
    for (const table_row& row : chart.from.rows) {
        for (const std::size_t index : chart.figures) {
            const summary& value = row.cells[index].value;
            if (value.count == 0) continue;
            values.push_back(value.median);
            values.push_back(value.high);
            if (value.low < 0.0) values.push_back(value.low);
        }
    }
    const bool memory = chart.from.figures[chart.figures.front()].kind == figure_kind::memory;
    return memory ? scale::for_parts(values, axis_pixels) : scale::for_lengths(values, axis_pixels);
}

void draw_spread(svg& picture, const scale& axis, double y, const cell& one) {
    const double middle = y + bar_height / 2;
    std::string outside;
    for (const double sample : one.samples) {
        if (std::isnan(sample) || (sample >= one.value.low && sample <= one.value.high)) continue;
        if (axis.beyond(sample)) {
            outside += fmt::format("M{} {}l4 3l-4 3", coordinate(left + axis_pixels), coordinate(middle - 3));
        } else {
            outside += fmt::format("M{} {}h0", coordinate(left + axis.place(sample)), coordinate(middle));
        }
    }
    const std::string whisker = whisker_of(axis, area, y, one.value);
    picture.path(whisker, "halo");
    picture.path(whisker, "whisker");
    picture.path(outside, "rounds");
}

void draw_axis(svg& picture, const scale& axis, double top, double bottom, double mark) {
    draw_ticks(picture, axis, area, top, bottom);
    if (mark > 0) {
        const double x = left + axis.place(mark);
        picture.line(x, top, x, bottom, "baseline-mark");
    }
}

std::string value_words(const bar_chart& chart, const table_row& row) {
    std::string words;
    for (const std::size_t index : chart.figures) {
        const cell& one = row.cells[index];
        if (!words.empty()) words += " / ";
        words += value_text(one.value.median);
        if (chart.figures.size() == 1 && one.ratio.count != 0)
            words += fmt::format("   {}", ratio_text(one.ratio.median));
    }
    return words;
}

std::string tip_of(const bar_chart& chart, const table_row& row) {
    std::string words = row.who->name;
    for (const std::size_t index : chart.figures) {
        const cell& one = row.cells[index];
        const figure& column = chart.from.figures[index];
        if (one.value.count == 0) continue;
        std::string rounds = count_text(one.value.count, "round");
        if (one.value.count >= min_spread_rounds) {
            rounds = fmt::format("middle half of {}: {}", rounds, spread_text(one.value));
        }
        words += fmt::format("\n{}: {} {} ({})", column.metric, value_text(one.value.median), column.unit, rounds);
        if (one.ratio.count != 0) words += fmt::format(", {}", ratio_text(one.ratio.median));
    }
    return words;
}

/// The second and third bars of a contestant have styles of their own, whatever its role.
std::string css_of_bar(role part, std::size_t place) {
    static constexpr std::array<std::string_view, 3> more{"", " second", " third"};
    return fmt::format("{}{}", css_of(part), more[std::min<std::size_t>(place, 2)]);
}

double median_of_baseline(const bar_chart& chart) {
    if (chart.figures.size() != 1) return 0;
    for (const table_row& row : chart.from.rows) {
        if (row.is_baseline) return row.cells[chart.figures.front()].value.median;
    }
    return 0;
}

void draw_label(svg& picture, double y, std::string_view name, std::string_view value, role part) {
    constexpr std::size_t letters = 60; // per line
    const std::string_view css = part == role::ours ? "label ours" : "label";
    picture.text(left, y + 12, clipped(name, letters - columns_of(value)), css);
    picture.text(width - 4, y + 12, value, css, anchor::end);
}

std::string description_of(const bar_chart& chart, const std::vector<std::size_t>& order) {
    std::string words = "In order of the medians: ";
    for (const std::size_t row : order) {
        words += fmt::format("{} {}; ", chart.from.rows[row].who->name, value_words(chart, chart.from.rows[row]));
    }
    return words;
}

std::string caption_of(const bar_chart& chart, const scale& axis) {
    const figure& first = chart.from.figures[chart.figures.front()];
    std::string words = fmt::format("<strong>{}</strong> <span class=\"unit\">{}, {} is better", escaped(chart.title),
                                    escaped(first.unit), first.sense == better::larger ? "larger" : "smaller");
    if (axis.kind() == scale_kind::logarithmic) words += "; <b>logarithmic scale</b>";
    return words + "</span>";
}

std::string key_of(const bar_chart& chart) {
    if (chart.figures.size() < 2) return {};
    static constexpr std::array<std::string_view, 3> css{"peer", "peer second", "peer third"};
    std::string words = "<p class=\"key\">From above: ";
    for (std::size_t place = 0; place < chart.figures.size(); ++place) {
        words +=
            fmt::format("<svg class=\"swatch\" viewBox=\"0 0 16 11\" aria-hidden=\"true\"><rect x=\"1\" y=\"1\" "
                        "width=\"14\" height=\"9\" class=\"{}\"/></svg> {} ",
                        css[std::min<std::size_t>(place, 2)], escaped(chart.from.figures[chart.figures[place]].metric));
    }
    return words + "</p>";
}

}

std::string draw(const bar_chart& chart) {
    const std::vector<std::size_t> order = best_first(chart.from, chart.figures.front());
    if (order.empty()) return {};
    const scale axis = scale_of(chart);
    const auto bars = static_cast<double>(chart.figures.size());
    const double row_height = label_height + bars * (bar_height + 2) + row_gap;
    const double bottom = 4 + row_height * static_cast<double>(order.size());
    svg picture(width, bottom + axis_height, chart.id, chart.title, description_of(chart, order));
    draw_axis(picture, axis, 2, bottom, median_of_baseline(chart));
    double y = 4;
    for (const std::size_t index : order) {
        const table_row& row = chart.from.rows[index];
        picture.open(tip_of(chart, row));
        draw_label(picture, y, row.who->name, value_words(chart, row), row.part);
        for (std::size_t place = 0; place < chart.figures.size(); ++place) {
            const cell& one = row.cells[chart.figures[place]];
            if (one.value.count == 0) continue;
            const double top = y + label_height + static_cast<double>(place) * (bar_height + 2);
            draw_bar(picture, axis, area, top, one.value.median, css_of_bar(row.part, place));
            draw_spread(picture, axis, top, one);
        }
        picture.close();
        y += row_height;
    }
    return fmt::format("<figure><figcaption>{}</figcaption>{}{}</figure>\n", caption_of(chart, axis), key_of(chart),
                       picture.str());
}

std::string draw_plain(const std::vector<plain_bar>& bars, std::string_view id, std::string_view title,
                       std::string_view caption) {
    std::vector<double> values;
    std::string description;
    for (const plain_bar& bar : bars) {
        values.push_back(bar.value);
        description += fmt::format("{} {}; ", bar.label, bar.text);
    }
    const scale axis = scale::for_lengths(values, axis_pixels);
    const double row_height = label_height + bar_height + row_gap;
    const double bottom = 4 + row_height * static_cast<double>(bars.size());
    svg picture(width, bottom + axis_height, id, title, description);
    draw_axis(picture, axis, 2, bottom, 0);
    double y = 4;
    for (const plain_bar& bar : bars) {
        draw_label(picture, y, bar.label, bar.text, bar.part);
        draw_bar(picture, axis, area, y + label_height, bar.value, css_of(bar.part));
        y += row_height;
    }
    const std::string_view log = axis.kind() == scale_kind::logarithmic ? "; <b>logarithmic scale</b>" : "";
    return fmt::format("<figure><figcaption><strong>{}</strong> <span class=\"unit\">{}{}</span></figcaption>{}"
                       "</figure>\n",
                       escaped(title), escaped(caption), log, picture.str());
}

}
