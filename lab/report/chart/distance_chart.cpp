// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/distance_chart.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 400;
constexpr double left = 44;
constexpr double plot_width = width - left - 10;
constexpr double plot_height = 130;
constexpr double label_height = 13;
constexpr std::size_t max_labels = 3;
constexpr std::size_t max_points = 6000;

/// A distance beyond the scale, and its number of occurrences.
struct outlier {
    std::int64_t distance;
    std::size_t first; ///< index into the distances
    std::size_t count;
};

/// Farthest first.
std::vector<outlier> outliers_of(const distance_view& view, const plot_range& range, bool above) {
    std::vector<outlier> found;
    for (const std::size_t index : range.clipped) {
        const std::int64_t distance = (*view.values)[index];
        if ((distance > range.high) != above) continue;
        const auto known = std::find_if(found.begin(), found.end(),
                                        [distance](const outlier& one) { return one.distance == distance; });
        if (known == found.end()) {
            found.push_back({distance, index, 1});
        } else {
            ++known->count;
        }
    }
    std::sort(found.begin(), found.end(), [above](const outlier& a, const outlier& b) {
        return above ? a.distance > b.distance : a.distance < b.distance;
    });
    return found;
}

/// The height of the band beside the scale for outliers: a row of marks, then their values.
double band_height(const std::vector<outlier>& outliers) {
    if (outliers.empty()) return 0;
    return 10 + label_height * static_cast<double>(std::min(outliers.size(), max_labels));
}

/// Places points: x by allocation index, y by distance, growing upwards.
struct frame {
    scale x, y;
    double top, bottom; ///< of the scale; the bands are outside

    [[nodiscard]] double across(double allocation) const { return left + x.place(allocation); }
    [[nodiscard]] double up(double distance) const { return bottom - y.place(distance); }
};

frame frame_of(const distance_view& view, const plot_range& range, double top) {
    // The picture always includes zero, the direct neighbour.
    double low = std::min(0.0, static_cast<double>(range.low));
    double high = std::max(0.0, static_cast<double>(range.high));
    const double room = (high - low) * 0.1;
    if (high > 0) high += room;
    if (low < 0) low -= room;
    high = std::max(high, low + 8); // when every distance is 0
    return {scale::for_range(0.0, static_cast<double>(view.values->size()) + 1.0, plot_width),
            scale::for_range(low, high, plot_height), top, top + plot_height};
}

void draw_axes(svg& picture, const frame& at, double axis_bottom) {
    for (const double tick : at.y.ticks()) {
        const double y = at.up(tick);
        picture.line(left, y, left + plot_width, y, tick == 0.0 ? "zero" : "grid");
        picture.text(left - 5, y + 4, short_text(tick), "tick", anchor::end);
    }
    for (const double tick : at.x.ticks()) {
        const double x = at.across(tick);
        picture.line(x, axis_bottom, x, axis_bottom + 4, "zero");
        picture.text(x, axis_bottom + 16, short_text(tick), "tick", anchor::middle);
    }
}

using pixel_set = std::set<std::pair<long, long>>; // y first, so that the pixels of one row are contiguous

pixel_set pixels_of(const distance_view& view, const plot_range& range, const frame& at, double pitch) {
    pixel_set pixels;
    for (std::size_t index = 0; index < view.values->size(); ++index) {
        if (std::binary_search(range.clipped.begin(), range.clipped.end(), index)) continue;
        const double y = at.up(static_cast<double>((*view.values)[index]));
        pixels.emplace(std::lround(y / pitch), std::lround(at.across(static_cast<double>(index) + 1) / pitch));
    }
    return pixels;
}

/// Draws each pixel once, and a run within a row as a line; uses a coarser grid when there are many.
std::string points_of(const distance_view& view, const plot_range& range, const frame& at) {
    double pitch = 0.5;
    pixel_set pixels = pixels_of(view, range, at, pitch);
    while (pixels.size() > max_points && pitch < 4) {
        pitch *= 2;
        pixels = pixels_of(view, range, at, pitch);
    }
    const auto pixel = [pitch](long place) { return coordinate(static_cast<double>(place) * pitch); };
    std::string commands;
    for (auto place = pixels.begin(); place != pixels.end();) {
        const auto [y, first] = *place;
        long last = first;
        while (++place != pixels.end() && place->first == y && place->second <= last + 1) last = place->second;
        commands += fmt::format("M{} {}H{}", pixel(first), pixel(y), pixel(last));
    }
    return commands;
}

std::string words_of(const outlier& one) {
    const std::string allocation = integer_text(static_cast<std::int64_t>(one.first) + 1);
    if (one.count == 1) return fmt::format("{} at {}", integer_text(one.distance), allocation);
    return fmt::format("{} ×{}, first at {}", integer_text(one.distance), one.count, allocation);
}

void draw_outliers(svg& picture, const distance_view& view, const plot_range& range, const frame& at, bool above) {
    const std::vector<outlier> outliers = outliers_of(view, range, above);
    if (outliers.empty()) return;
    const double edge = above ? at.top : at.bottom;
    const double away = above ? -1.0 : 1.0;
    picture.line(left, edge, left + plot_width, edge, "break");
    std::string marks;
    for (const std::size_t index : range.clipped) {
        if (((*view.values)[index] > range.high) != above) continue;
        const double x = at.across(static_cast<double>(index) + 1);
        marks += fmt::format("M{} {}l4 {}l4 {}z", coordinate(x - 4), coordinate(edge + away), coordinate(7 * away),
                             coordinate(-7 * away));
    }
    picture.path(marks, "clipped");
    double y = above ? edge - 12 : edge + 20;
    for (std::size_t place = 0; place < std::min(outliers.size(), max_labels); ++place) {
        const double x = at.across(static_cast<double>(outliers[place].first) + 1);
        const bool right_half = x > left + plot_width / 2;
        picture.text(right_half ? x + 4 : x - 4, y, words_of(outliers[place]), "note",
                     right_half ? anchor::end : anchor::start);
        y += away * label_height;
    }
}

void draw_budget(svg& picture, const frame& at, double allocation) {
    const double x = at.across(allocation);
    const bool right_half = x > left + plot_width / 2;
    picture.line(x, at.top, x, at.bottom, "budget");
    picture.text(right_half ? x - 5 : x + 5, at.bottom - 8, fmt::format("budget ends at {}", value_text(allocation)),
                 "note", right_half ? anchor::end : anchor::start);
}

std::string description_of(const distance_view& view, const plot_range& range) {
    const distance_summary found = summarize_distances(*view.values);
    std::string words =
        fmt::format("{}, {} of them {} bytes; from {} to {}", count_text(found.count, "distance"), found.usual_count,
                    integer_text(found.usual), integer_text(found.lowest), integer_text(found.highest));
    if (!range.clipped.empty()) words += fmt::format("; {} beyond the scale", range.clipped.size());
    return words;
}

std::string caption_of(const plot_range& range, std::size_t different) {
    std::string words = "<strong>Distance</strong> <span class=\"unit\">bytes, by allocation index";
    if (!range.clipped.empty()) words += fmt::format("; <b>{} beyond the scale</b>", range.clipped.size());
    if (different > max_labels) words += fmt::format(", the {} farthest named", max_labels);
    return words + "</span>";
}

}

std::string draw_distances(const distance_view& view, std::optional<double> budget_end, std::string_view id) {
    const plot_range range = range_of(*view.values);
    const std::vector<outlier> above = outliers_of(view, range, true);
    const std::vector<outlier> below = outliers_of(view, range, false);
    const frame at = frame_of(view, range, 6 + band_height(above));
    const double axis_bottom = at.bottom + band_height(below);
    svg picture(width, axis_bottom + 20, id, fmt::format("Distances of {}", view.who->name),
                description_of(view, range));
    draw_axes(picture, at, axis_bottom);
    if (budget_end && *budget_end >= 0) draw_budget(picture, at, *budget_end);
    picture.path(points_of(view, range, at), "points");
    draw_outliers(picture, view, range, at, true);
    draw_outliers(picture, view, range, at, false);
    return fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n",
                       caption_of(range, std::max(above.size(), below.size())), picture.str());
}

}
