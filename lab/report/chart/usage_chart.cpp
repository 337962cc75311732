// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/usage_chart.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/html/html_style.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 720;
constexpr double left = 52;
constexpr double plot_width = 520;
constexpr double plot_height = 180;
constexpr double top = 24; // room for the marks
constexpr double bottom = top + plot_height;

double mib(double bytes) { return bytes / (1024.0 * 1024.0); }

struct plot {
    scale x, y;

    [[nodiscard]] double across(std::int64_t frame) const { return left + x.place(static_cast<double>(frame)); }
    [[nodiscard]] double up(double bytes) const { return bottom - y.place(mib(bytes)); }
};

plot plot_of(const frame_usages& log, const tag_frames& shown) {
    std::vector<double> values;
    for (const auto* const each : {&shown.persistent_bytes, &shown.temp_job_bytes, &shown.temp_bytes})
        values.push_back(mib(static_cast<double>(peak_of(*each))));
    for (const std::optional<std::uint64_t>& each : {shown.limit_bytes, shown.threshold_bytes})
        if (each.has_value()) values.push_back(mib(static_cast<double>(*each)));
    const double first = static_cast<double>(log.frames.front());
    return {scale::for_range(first, std::max(static_cast<double>(log.frames.back()), first + 1), plot_width),
            scale::for_parts(values, plot_height)};
}

void draw_axes(svg& picture, const plot& at) {
    for (const double tick : at.y.ticks()) {
        const double y = bottom - at.y.place(tick);
        picture.line(left, y, left + plot_width, y, tick == 0.0 ? "zero" : "grid");
        picture.text(left - 5, y + 4, short_text(tick), "tick", anchor::end);
    }
    for (const double tick : at.x.ticks()) {
        const double x = left + at.x.place(tick);
        picture.line(x, bottom, x, bottom + 4, "zero");
        picture.text(x, bottom + 16, short_text(tick), "tick", anchor::middle);
    }
    picture.text(left + plot_width / 2, bottom + 31, "frame", "tick", anchor::middle);
}

void draw_course(svg& picture, const plot& at, const frame_usages& log, const std::vector<std::int64_t>& bytes,
                 std::string_view css) {
    std::string path;
    for (std::size_t index = 0; index < log.frames.size(); ++index) {
        path += fmt::format("{}{} {}", index == 0 ? "M" : "L", coordinate(at.across(log.frames[index])),
                            coordinate(at.up(static_cast<double>(bytes[index]))));
    }
    picture.path(path, css);
}

void draw_limit(svg& picture, const plot& at, const std::optional<std::uint64_t>& bytes, std::string_view name) {
    if (!bytes.has_value()) return;
    const double y = at.up(static_cast<double>(*bytes));
    picture.line(left, y, left + plot_width, y, "budget");
    picture.text(left + plot_width + 6, y + 4,
                 fmt::format("{} {} MiB", name, value_text(mib(static_cast<double>(*bytes)))), "label");
}

}

std::string draw_usage(const frame_usages& log, const tag_frames& shown, std::string_view id) {
    const plot at = plot_of(log, shown);
    svg picture(width, bottom + 36, id, shown.name,
                fmt::format("{} of the process heap, peak {} MiB", count_text(log.frames.size(), "frame"),
                            value_text(mib(static_cast<double>(shown.peak_bytes())))));
    draw_axes(picture, at);
    std::string lines;
    const auto draw = [&](const std::vector<std::int64_t>& bytes, std::string_view css, std::string_view words) {
        if (peak_of(bytes) == 0) return;
        draw_course(picture, at, log, bytes, css);
        lines += words;
    };
    draw(shown.temp_bytes, "course", "; thin line: allocated from Temp in the frame");
    draw(shown.temp_job_bytes, "course baseline", "; long dashes: TempJob");
    draw_course(picture, at, log, shown.persistent_bytes, "course ours");
    draw_limit(picture, at, shown.limit_bytes, "limit");
    draw_limit(picture, at, shown.threshold_bytes, "threshold");
    for (std::size_t index = 0; index < log.frames.size(); ++index) {
        if (!shown.is_exceeded(index)) continue;
        const double x = at.across(log.frames[index]);
        const bool is_refused = shown.refusals[index] > 0;
        picture.open(fmt::format("frame {}: {} MiB, {} refused", log.frames[index],
                                 value_text(mib(static_cast<double>(shown.persistent_bytes[index]))),
                                 count_text(static_cast<std::size_t>(shown.refusals[index]), "request")));
        if (is_refused)
            picture.path(fmt::format("M{0} {1}L{2} {3}L{4} {3}Z", coordinate(x), coordinate(top - 4), coordinate(x - 5),
                                     coordinate(top - 14), coordinate(x + 5)),
                         "clipped");
        else
            picture.line(x, bottom - 3, x, bottom + 3, "rounds");
        picture.close();
    }
    const std::string_view legend =
        shown.limit_bytes.has_value() || shown.threshold_bytes.has_value()
            ? "; short dashes: budget; ▼ requests refused; ticks on the axis: over the threshold"
            : "";
    return fmt::format("<figure class=\"wide\"><figcaption><strong>{}</strong> <span class=\"unit\">MiB in the process "
                       "heap at the end of each frame{}{}</span></figcaption>{}</figure>\n",
                       escaped(shown.name), lines, legend, picture.str());
}

std::string usage_page(const frame_usages& log, std::string_view title) {
    std::vector<const tag_frames*> tags;
    for (const tag_frames& each : log.tags) tags.push_back(&each);
    const auto peak_of_all = [](const tag_frames& each) {
        return std::max({each.peak_bytes(), peak_of(each.temp_job_bytes), peak_of(each.temp_bytes)});
    };
    std::stable_sort(tags.begin(), tags.end(),
                     [&](const tag_frames* a, const tag_frames* b) { return peak_of_all(*a) > peak_of_all(*b); });
    std::string charts;
    for (std::size_t index = 0; index < tags.size() && !log.frames.empty(); ++index)
        if (peak_of_all(*tags[index]) > 0 || tags[index]->exceeded_count() > 0)
            charts += draw_usage(log, *tags[index], fmt::format("u{}", index));
    if (charts.empty()) charts = "<p>No tag has used memory.</p>\n";
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                       "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                       "'unsafe-inline'\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<div "
                       "class=\"page\">\n<header>\n<h1>Usage by tag and frame</h1>\n<p>{0}: {2}</p>\n</header>\n"
                       "<main>\n{3}</main>\n</div>\n</body>\n</html>\n",
                       escaped(title), html_style(), count_text(log.frames.size(), "frame"), charts);
}

}
