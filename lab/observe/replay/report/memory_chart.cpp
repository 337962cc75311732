// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/memory_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "observe/replay/run/replay_experiment.hpp"
#include "report/analysis/metric_value.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 720, left = 62, plot_width = 644, plot_height = 270, top = 10, bottom = top + plot_height;
constexpr double mebibyte = 1024.0 * 1024;
constexpr std::size_t line_styles = 7; // those after the last one look like the first again
constexpr std::size_t marks_of_line = 4;

const series* list_of(const std::vector<series>& lists, std::string_view name) {
    const auto found = std::find_if(lists.begin(), lists.end(), [&](const series& each) { return each.name == name; });
    return found == lists.end() ? nullptr : &*found;
}

std::vector<double> scaled(const series* list, double factor) {
    std::vector<double> made;
    if (list == nullptr) return made;
    for (const std::int64_t each : list->values) made.push_back(static_cast<double>(each) * factor);
    return made;
}

/// Whether a chart can have such values: a file from elsewhere may have others.
bool is_amount(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double each) { return each >= 0; });
}
bool is_axis(const std::vector<double>& values) {
    return is_amount(values) && std::is_sorted(values.begin(), values.end());
}

std::string style_of(const memory_line& line, std::size_t index) {
    return fmt::format("m{}{}", index % line_styles, line.part == role::ours ? " own" : "");
}

/// A mark with a shape of its own for each style of line, as commands of a path.
std::string mark_at(std::size_t style, double x, double y) {
    const auto path = [&](std::string_view commands) {
        return fmt::format("M{} {}{}", coordinate(x), coordinate(y), commands);
    };
    switch (style % line_styles) {
    case 0: return path("m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"); // circle
    case 1: return path("m-3.5-3.5h7v7h-7z");                  // square
    case 2: return path("m0-4.5l4.5 8h-9z");                   // triangle
    case 3: return path("m0-5l4.5 5l-4.5 5l-4.5-5z");          // diamond
    case 4: return path("m0 4.5l4.5-8h-9z");                   // triangle, point down
    case 5: return path("m-4-4l8 8m0-8l-8 8");                 // cross
    default: return path("m-4.5 0h9m-4.5-4.5v9");              // plus
    }
}

enum class growth : std::uint8_t { linear, logarithmic };

struct frame {
    const std::vector<double>& along;
    scale x, y;
    growth kind = growth::linear;

    [[nodiscard]] double across(std::size_t place) const { return left + x.place(along[place] - along.front()); }
    [[nodiscard]] double up(double value) const {
        return bottom - y.place(kind == growth::logarithmic ? std::log10(value) : value);
    }
    /// Values with a line across.
    [[nodiscard]] std::vector<double> levels() const {
        if (kind == growth::linear) return y.ticks();
        std::vector<double> found;
        for (double power = 0.01; power < 1e6; power *= 10)
            for (const double factor : std::array{1.0, 2.0, 5.0})
                if (const double y_of = up(power * factor); y_of > top && y_of < bottom)
                    found.push_back(power * factor);
        return found;
    }
};

void draw_axes(svg& picture, const frame& at, std::string_view words) {
    for (const double tick : at.levels()) {
        picture.line(left, at.up(tick), left + plot_width, at.up(tick), tick == 0.0 ? "zero" : "grid");
        picture.text(left - 6, at.up(tick) + 4, short_text(tick), "tick", anchor::end);
    }
    for (const double tick : at.x.ticks()) {
        const double x = left + at.x.place(tick);
        picture.line(x, bottom, x, bottom + 4, "zero");
        picture.text(x, bottom + 18, short_text(tick), "tick", anchor::middle);
    }
    picture.text(left + plot_width / 2, bottom + 42, words, "tick", anchor::middle);
}

/// The values in steps, because each holds until the next place; interrupted where there is none.
std::string path_of(const std::vector<double>& values, const frame& at) {
    std::string commands;
    bool is_open = false;
    for (std::size_t place = 0; place < values.size(); ++place) {
        const std::string x = coordinate(at.across(place));
        if (is_open) commands += "H" + x;
        is_open = std::isfinite(values[place]);
        if (!is_open) continue;
        const bool continues = place != 0 && std::isfinite(values[place - 1]);
        const std::string y = coordinate(at.up(values[place]));
        commands += continues ? "V" + y : fmt::format("M{} {}", x, y);
    }
    return commands;
}

std::string area_below(const std::vector<double>& values, const frame& at) {
    return fmt::format("{}V{}H{}z", path_of(values, at), coordinate(bottom), coordinate(at.across(0)));
}

/// The marks of a line, at other places than those of the other lines.
std::string marks_of(const std::vector<double>& values, const frame& at, std::size_t style, std::size_t lines) {
    std::string commands;
    for (std::size_t mark = 0; mark < marks_of_line; ++mark) {
        const double share =
            (static_cast<double>(mark) + (static_cast<double>(style) + 0.5) / static_cast<double>(lines)) /
            static_cast<double>(marks_of_line);
        std::size_t place = 0;
        while (place + 1 < values.size() && at.across(place) < left + share * plot_width) ++place;
        if (std::isfinite(values[place])) commands += mark_at(style, at.across(place), at.up(values[place]));
    }
    return commands;
}

void draw_lines(svg& picture, const memory_over_trace& memory, const std::vector<std::vector<double>>& values,
                const frame& at, std::string_view unit) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        double most = 0;
        for (const double each : values[i])
            if (std::isfinite(each)) most = std::max(most, each);
        picture.open(fmt::format("{}: at most {}{}", memory.lines[i].who->name, value_text(most), unit));
        const std::string style = style_of(memory.lines[i], i);
        picture.path(path_of(values[i], at), "memory " + style);
        picture.path(marks_of(values[i], at, i, values.size()), "memory-mark " + style);
        picture.close();
    }
}

const std::vector<double>& places_along(const memory_over_trace& memory, trace_axis along) {
    return along == trace_axis::seconds ? memory.seconds : memory.events;
}

std::string_view words_of(trace_axis along) {
    return along == trace_axis::seconds ? "seconds of the recorded program" : "events of the trace";
}

scale across_scale(const std::vector<double>& along) {
    return scale::for_range(0, along.back() - along.front(), plot_width);
}

std::string key_item(std::string_view line, std::string_view words) {
    return fmt::format("<li><svg class=\"swatch wide\" viewBox=\"0 0 34 11\" aria-hidden=\"true\">{}</svg> {}</li>\n",
                       line, escaped(words));
}

/// The lines and the names of the mallocs, each with `more` behind it.
template<class More>
std::string key_of(const memory_over_trace& memory, More more) {
    std::string text = "<ul class=\"legend memory-key\">\n";
    for (std::size_t i = 0; i < memory.lines.size(); ++i) {
        const memory_line& line = memory.lines[i];
        const std::string style = style_of(line, i);
        text += key_item(fmt::format("<path d=\"M0 5.5h34\" class=\"memory {0}\"/><path d=\"{1}\" class=\"memory-mark "
                                     "{0}\"/>",
                                     style, mark_at(i, 17, 5.5)),
                         line.who->name + more(line));
    }
    return text;
}

}

double memory_line::peak_mib() const { return mib.empty() ? 0 : *std::max_element(mib.begin(), mib.end()); }

double memory_over_trace::peak_live_mib() const {
    return live_mib.empty() ? 0 : *std::max_element(live_mib.begin(), live_mib.end());
}

double memory_over_trace::fragmentation(const memory_line& line, std::size_t place) const {
    const double live = live_mib[place];
    if (live <= 0 || live < peak_live_mib() * least_live_share) return std::numeric_limits<double>::quiet_NaN();
    return line.mib[place] / live;
}

memory_over_trace memory_of(const experiment_result& found) {
    memory_over_trace made;
    made.events = scaled(list_of(found.lists, course_events), 1);
    made.seconds = scaled(list_of(found.lists, course_times), 1e-9);
    made.live_mib = scaled(list_of(found.lists, course_live), 1 / mebibyte);
    if (made.seconds.size() != made.events.size() || made.live_mib.size() != made.events.size()) return {};
    if (!is_axis(made.events) || !is_axis(made.seconds) || !is_amount(made.live_mib)) return {};
    for (const contestant_result& who : found.contestants) {
        const series* const list = list_of(who.lists, course_resident);
        if (who.state != outcome::measured || list == nullptr || list->values.size() != made.events.size()) continue;
        std::vector<double> mib = scaled(list, 1 / 1024.0);
        if (is_amount(mib)) made.lines.push_back({&who, role_of(who, found.baseline), std::move(mib)});
    }
    return made;
}

std::string draw_memory(const memory_over_trace& memory, trace_axis along, std::string_view id) {
    std::vector<std::vector<double>> values;
    std::vector<double> all = memory.live_mib;
    for (const memory_line& line : memory.lines) {
        values.push_back(line.mib);
        all.insert(all.end(), line.mib.begin(), line.mib.end());
    }
    const std::vector<double>& places = places_along(memory, along);
    const frame at{places, across_scale(places), scale::for_parts(all, plot_height)};
    svg picture(width, bottom + 50, id, "Resident memory over the trace",
                fmt::format("{} and the live bytes at {}; the table below has some of the values",
                            count_text(values.size(), "malloc"), count_text(places.size(), "place")));
    picture.open(fmt::format("live bytes of the program: at most {} MiB", value_text(memory.peak_live_mib())));
    picture.path(area_below(memory.live_mib, at), "memory-live");
    picture.close();
    draw_axes(picture, at, words_of(along));
    draw_lines(picture, memory, values, at, " MiB");
    return fmt::format("<figure class=\"wide memory-figure\"><figcaption><strong>Resident</strong> <span "
                       "class=\"unit\">MiB, by {}</span></figcaption>{}</figure>\n",
                       words_of(along), picture.str());
}

std::string draw_fragmentation(const memory_over_trace& memory, trace_axis along, std::string_view id) {
    std::vector<std::vector<double>> values;
    double low = 1, high = 2; // a byte takes a byte at best, unless the program never wrote to it
    for (const memory_line& line : memory.lines) {
        std::vector<double>& of_line = values.emplace_back();
        for (std::size_t place = 0; place < line.mib.size(); ++place)
            of_line.push_back(memory.fragmentation(line, place));
        for (const double each : of_line) {
            if (!std::isfinite(each) || each <= 0) continue;
            low = std::min(low, each);
            high = std::max(high, each);
        }
    }
    const std::vector<double>& places = places_along(memory, along);
    const frame at{places, across_scale(places),
                   scale::for_range(std::log10(low * 0.95), std::log10(high * 1.05), plot_height), growth::logarithmic};
    svg picture(width, bottom + 50, id, "Resident per live byte over the trace",
                fmt::format("{}; the table below has some of the values", count_text(values.size(), "malloc")));
    draw_axes(picture, at, words_of(along));
    draw_lines(picture, memory, values, at, " bytes per live byte");
    return fmt::format("<figure class=\"wide memory-figure\"><figcaption><strong>Resident per live byte</strong> <span "
                       "class=\"unit\">by {}; logarithmic</span></figcaption>{}</figure>\n",
                       words_of(along), picture.str());
}

std::string memory_key(const memory_over_trace& memory) {
    const std::string live = fmt::format("live bytes: at most {} MiB", value_text(memory.peak_live_mib()));
    return key_of(
               memory,
               [](const memory_line& line) { return fmt::format(": at most {} MiB", value_text(line.peak_mib())); }) +
           key_item("<rect width=\"34\" height=\"11\" class=\"memory-live\"/>", live) + "</ul>\n";
}

std::string fragmentation_key(const memory_over_trace& memory) {
    return key_of(memory,
                  [](const memory_line& line) {
                      const auto& metrics = line.who->metrics;
                      const auto mean = std::find_if(metrics.begin(), metrics.end(),
                                                     [](const metric& each) { return each.name == replay_mean; });
                      return mean == metrics.end()
                                 ? std::string()
                                 : fmt::format(": {} in the mean", value_text(value_of(*mean).median));
                  }) +
           "</ul>\n";
}

std::string_view memory_style() {
    return R"css(
:root { --m0: #555e68; --m1: #0b57b0; --m2: #a3450f; --m3: #1a6b4f; --m4: #7a3fae; --m5: #8a1f55; --m6: #5f6300; }
@media (prefers-color-scheme: dark) {
  :root { --m0: #b4bdc8; --m1: #69b1ff; --m2: #f0a06a; --m3: #6fd3a8; --m4: #c79bf2; --m5: #f08fbd; --m6: #cdd06a; }
}
.memory { fill: none; stroke-width: 1.7px; stroke-linejoin: round; }
.memory.own { stroke-width: 3px; }
.memory.m0 { stroke: var(--m0); stroke-dasharray: 8 4; } .memory.m1 { stroke: var(--m1); }
.memory.m2 { stroke: var(--m2); stroke-dasharray: 3 3; } .memory.m3 { stroke: var(--m3); stroke-dasharray: 10 3 2 3; }
.memory.m4 { stroke: var(--m4); stroke-dasharray: 14 4; } .memory.m5 { stroke: var(--m5); stroke-dasharray: 6 2 2 2 2 2; }
.memory.m6 { stroke: var(--m6); stroke-dasharray: 1.5 2.5; }
.memory-mark { fill: var(--page); stroke-width: 1.6px; }
.memory-mark.m0 { stroke: var(--m0); } .memory-mark.m1 { stroke: var(--m1); } .memory-mark.m2 { stroke: var(--m2); }
.memory-mark.m3 { stroke: var(--m3); } .memory-mark.m4 { stroke: var(--m4); } .memory-mark.m5 { stroke: var(--m5); }
.memory-mark.m6 { stroke: var(--m6); } .memory-mark.own { fill: var(--m1); }
.memory-live { fill: var(--peer); opacity: .55; }
.legend.memory-key { color: var(--ink); } .memory-key .swatch { overflow: visible; }
details { margin: .2rem 0 1rem; } summary { color: var(--ours); cursor: pointer; }
@media (max-width: 560px) { .memory-figure svg text.tick { font-size: 20px; } .memory { stroke-width: 2.6px; } }
@media print { :root { --m0: #666; --m1: #000; --m2: #333; --m3: #555; --m4: #222; --m5: #444; --m6: #777; } }
)css";
}

}
