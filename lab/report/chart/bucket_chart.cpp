// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/distance_chart.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 400;
constexpr double row_height = 18;
constexpr double bar_left = 130;
constexpr std::size_t max_buckets = 8;

/// The distances to draw: the most frequent ones, sorted by distance, and a summary of the others.
struct chosen_buckets {
    std::vector<bucket> shown;
    std::size_t all = 0;
    std::size_t max_of_rest = 0;

    [[nodiscard]] std::size_t rest() const { return all - shown.size(); }
};

chosen_buckets choose(const distance_view& view) {
    chosen_buckets made;
    made.shown = buckets_of(*view.values);
    made.all = made.shown.size();
    std::stable_sort(made.shown.begin(), made.shown.end(),
                     [](const bucket& a, const bucket& b) { return a.count > b.count; });
    if (made.all > max_buckets + 1) {
        made.max_of_rest = made.shown[max_buckets].count;
        made.shown.resize(max_buckets);
    }
    std::sort(made.shown.begin(), made.shown.end(),
              [](const bucket& a, const bucket& b) { return a.distance < b.distance; });
    return made;
}

std::string rest_words(const chosen_buckets& chosen) {
    const std::string others = fmt::format("and {}", count_text(chosen.rest(), "other distance"));
    if (chosen.max_of_rest == 1) return others + ", each seen once";
    return fmt::format("{}, each seen at most {} times", others, chosen.max_of_rest);
}

}

std::string draw_buckets(const distance_view& view, std::string_view id) {
    const chosen_buckets chosen = choose(view);
    const std::size_t rows = chosen.shown.size() + (chosen.rest() == 0 ? 0 : 1);
    svg picture(width, row_height * static_cast<double>(rows) + 4, id,
                fmt::format("Distance buckets of {}", view.who->name), count_text(chosen.all, "different distance"));
    double largest = 1;
    for (const bucket& one : chosen.shown) largest = std::max(largest, static_cast<double>(one.count));
    const scale axis = scale::for_range(0, largest, width - bar_left - 60);
    double y = 2;
    for (const bucket& one : chosen.shown) {
        const double length = std::max(axis.place(static_cast<double>(one.count)), 1.0);
        picture.text(bar_left - 6, y + 13, integer_text(one.distance), "tick", anchor::end);
        picture.rect(bar_left, y + 3, length, row_height - 6, "bucket");
        picture.text(bar_left + length + 5, y + 13, "×" + integer_text(static_cast<std::int64_t>(one.count)), "label");
        y += row_height;
    }
    if (chosen.rest() != 0) picture.text(bar_left, y + 13, rest_words(chosen), "tick");
    return fmt::format("<figure><figcaption><strong>Buckets</strong> <span class=\"unit\">{}</span></figcaption>{}"
                       "</figure>\n",
                       count_text(chosen.all, "different distance"), picture.str());
}

}
