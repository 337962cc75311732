// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/resident_chart.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/chart/bar_parts.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 720;
constexpr double left = 44;
constexpr double plot_width = 440;
constexpr double least_height = 240;
constexpr double top = 8;
constexpr double label_height = 14;
constexpr double label_left = left + plot_width + 22;

/// A line's name, moved up or down until no two names overlap.
struct label {
    const resident_line* line;
    double end; ///< where the line ends
    double y;   ///< where the name is
};

struct frame {
    scale x, y;
    double bottom;

    [[nodiscard]] double across(std::size_t reading) const {
        return left + x.place(static_cast<double>(reading) / static_cast<double>(resident_readings_per_second));
    }
    [[nodiscard]] double up(double mib) const { return bottom - y.place(mib); }
};

frame frame_of(const resident_view& view) {
    std::vector<double> values;
    for (const resident_line& line : view.lines) {
        for (std::size_t reading = 0; reading < line.kibibytes->size(); ++reading) values.push_back(line.mib(reading));
    }
    const double seconds = static_cast<double>(view.readings() - 1) / static_cast<double>(resident_readings_per_second);
    const double height = std::max(least_height, label_height * static_cast<double>(view.lines.size()));
    return {scale::for_range(0, seconds, plot_width), scale::for_parts(values, height), top + height};
}

void draw_axes(svg& picture, const frame& at) {
    for (const double tick : at.y.ticks()) {
        const double y = at.up(tick);
        picture.line(left, y, left + plot_width, y, tick == 0.0 ? "zero" : "grid");
        picture.text(left - 5, y + 4, short_text(tick), "tick", anchor::end);
    }
    for (const double tick : at.x.ticks()) {
        const double x = left + at.x.place(tick);
        picture.line(x, at.bottom, x, at.bottom + 4, "zero");
        picture.text(x, at.bottom + 16, short_text(tick), "tick", anchor::middle);
    }
    picture.text(left + plot_width / 2, at.bottom + 31, "seconds after the frees", "tick", anchor::middle);
}

/// From the top, in the order of the lines' ends.
std::vector<label> place_labels(const resident_view& view, const frame& at) {
    std::vector<label> labels;
    for (const resident_line& line : view.lines) {
        const double end = at.up(line.mib(line.kibibytes->size() - 1));
        labels.push_back({&line, end, end});
    }
    std::stable_sort(labels.begin(), labels.end(), [](const label& a, const label& b) { return a.end < b.end; });
    for (std::size_t index = 1; index < labels.size(); ++index)
        labels[index].y = std::max(labels[index].y, labels[index - 1].y + label_height);
    double limit = at.bottom; // those that were pushed out below move up again
    for (auto one = labels.rbegin(); one != labels.rend(); ++one) {
        one->y = std::min(one->y, limit);
        limit = one->y - label_height;
    }
    return labels;
}

std::string path_of(const resident_line& line, const frame& at) {
    std::string commands;
    for (std::size_t reading = 0; reading < line.kibibytes->size(); ++reading) {
        commands += fmt::format("{}{} {}", reading == 0 ? "M" : "L", coordinate(at.across(reading)),
                                coordinate(at.up(line.mib(reading))));
    }
    return commands;
}

void draw_line(svg& picture, const label& name, const frame& at) {
    const resident_line& line = *name.line;
    const std::size_t last = line.kibibytes->size() - 1;
    const std::string words = fmt::format("{}   {}", line.who->name, value_text(line.mib(last)));
    picture.open(fmt::format("{}: {} MiB at first, {} MiB at last", line.who->name, value_text(line.mib(0)),
                             value_text(line.mib(last))));
    picture.path(path_of(line, at), fmt::format("course {}", css_of(line.part)));
    picture.line(at.across(last) + 2, name.end, label_left - 3, name.y, "leader");
    picture.text(label_left, name.y + 4, words, line.part == role::ours ? "label ours" : "label");
    picture.close();
}

}

std::size_t resident_view::readings() const {
    std::size_t most = 0;
    for (const resident_line& line : lines) most = std::max(most, line.kibibytes->size());
    return most;
}

std::vector<resident_view> resident_over_time(const experiment_result& found) {
    std::vector<resident_view> views;
    for (const contestant_result& who : found.contestants) {
        if (who.state != outcome::measured) continue;
        for (const series& list : who.lists) {
            if (list.name != resident_readings_name || list.values.empty()) continue;
            const auto known = std::find_if(views.begin(), views.end(),
                                            [&](const resident_view& view) { return view.variant == list.variant; });
            resident_view& view = known != views.end() ? *known : views.emplace_back(resident_view{list.variant, {}});
            view.lines.push_back({&who, role_of(who, found.baseline), &list.values});
        }
    }
    return views;
}

std::string draw_resident(const resident_view& view, std::string_view id) {
    const frame at = frame_of(view);
    const std::vector<label> labels = place_labels(view, at);
    svg picture(width, at.bottom + 36, id, "Resident memory over time",
                fmt::format("{} over {} s; the table below has the values", count_text(view.lines.size(), "contestant"),
                            (view.readings() - 1) / resident_readings_per_second));
    draw_axes(picture, at);
    for (const label& name : labels) draw_line(picture, name, at);
    return fmt::format("<figure class=\"wide\"><figcaption><strong>Resident</strong> <span class=\"unit\">MiB, read {} "
                       "times a second</span></figcaption>{}</figure>\n",
                       resident_readings_per_second, picture.str());
}

}
