// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/bar_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tenure::lab {

std::vector<std::size_t> best_first(const table& from, std::size_t figure_index) {
    std::vector<std::size_t> order;
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        if (from.rows[row].cells[figure_index].value.count != 0) order.push_back(row);
    }
    const better sense = from.figures[figure_index].sense;
    const auto median = [&](std::size_t row) { return from.rows[row].cells[figure_index].value.median; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return better_than(median(a), median(b), sense); });
    return order;
}

void draw_bar(svg& picture, const scale& axis, const bar_area& area, double y, double value, std::string_view css) {
    const double end = axis.place(value);
    if (axis.kind() == scale_kind::linear) {
        const double zero = axis.place(0.0); // not the left edge when some value is below zero
        picture.rect(area.left + std::min(zero, end), y, std::max(std::abs(end - zero), 0.8), area.bar_height, css);
        return;
    }
    const double middle = y + area.bar_height / 2;
    picture.line(area.left, middle, area.left + end, middle, "stem");
    picture.rect(area.left + end - area.bar_height / 2, y, area.bar_height, area.bar_height, css);
}

std::string whisker_of(const scale& axis, const bar_area& area, double y, const summary& value) {
    const double middle = y + area.bar_height / 2;
    return fmt::format("M{0} {1}v6M{0} {2}H{3}M{3} {1}v6", coordinate(area.left + axis.place(value.low)),
                       coordinate(middle - 3), coordinate(middle), coordinate(area.left + axis.place(value.high)));
}

void draw_ticks(svg& picture, const scale& axis, const bar_area& area, double top, double bottom) {
    double last = area.first_text - 100;
    for (const double tick : axis.ticks()) {
        const double x = area.left + axis.place(tick);
        picture.line(x, top, x, bottom, "grid");
        const std::string words = short_text(tick);
        // Leaves out labels that would touch their neighbour, but draws their lines.
        const double half = 3.2 * static_cast<double>(words.size()) + 3;
        if (x - half < last) continue;
        const bool at_start = x - half < area.first_text;
        const bool at_end = x + half > area.last_text;
        picture.text(x, bottom + 14, words, "tick", at_start ? anchor::start : (at_end ? anchor::end : anchor::middle));
        last = at_start ? x + 2 * half : x + half;
    }
}

std::string_view css_of(role part) {
    static constexpr std::array<std::string_view, 5> names{"ours", "peer", "baseline", "reference", "checked"};
    return names[static_cast<std::size_t>(part)];
}

}
