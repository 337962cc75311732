// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/report/course_chart.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/pins/report/pins_text.hpp"
#include "observe/profile/report/profile_text.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 720, left = 52, plot_width = 640, plot_height = 260, top = 8, bottom = top + plot_height;
constexpr double mib = 1024.0 * 1024;

/// What is drawn: by part, and of each part by moment, the sum of the parts below and of it.
struct stacked_parts {
    std::vector<std::vector<double>> ends;
    std::vector<memory_part> parts; ///< of the last moment

    explicit stacked_parts(const memory_course& course) {
        std::vector<std::vector<memory_part>> by_moment;
        for (const memory_moment& each : course.moments) by_moment.push_back(all_parts(each.parts, each.malloc_file));
        parts = by_moment.back();
        std::vector<double> sum(by_moment.size());
        for (std::size_t part = 0; part < parts.size(); ++part) {
            for (std::size_t moment = 0; moment < sum.size(); ++moment)
                sum[moment] += static_cast<double>(by_moment[moment][part].bytes) / mib;
            ends.push_back(sum);
        }
    }
    [[nodiscard]] bool is_empty(std::size_t part) const {
        return part == 0 ? std::all_of(ends[0].begin(), ends[0].end(), [](double end) { return end == 0; })
                         : ends[part] == ends[part - 1];
    }
};

[[nodiscard]] double seconds_of(const memory_course& course, std::size_t moment) {
    return static_cast<double>(course.age_ms(course.moments[moment])) / 1000;
}

struct frame {
    scale x, y;
    [[nodiscard]] double across(double seconds) const { return left + x.place(seconds); }
    [[nodiscard]] double up(double value) const { return bottom - y.place(value); }
};

void draw_axes(svg& picture, const frame& at) {
    for (const double tick : at.y.ticks()) {
        picture.line(left, at.up(tick), left + plot_width, at.up(tick), tick == 0.0 ? "zero" : "grid");
        picture.text(left - 5, at.up(tick) + 4, short_text(tick), "tick", anchor::end);
    }
    for (const double tick : at.x.ticks()) {
        const double x = left + at.x.place(tick);
        picture.line(x, bottom, x, bottom + 4, "zero");
        picture.text(x, bottom + 16, short_text(tick), "tick", anchor::middle);
    }
    picture.text(left + plot_width / 2, bottom + 31, "seconds since the profile began", "tick", anchor::middle);
}

[[nodiscard]] std::string area_of(const memory_course& course, const stacked_parts& stacked, std::size_t part,
                                  const frame& at) {
    std::string path;
    const std::size_t count = course.moments.size();
    for (std::size_t index = 0; index < count; ++index) {
        path += fmt::format("{}{} {}", index == 0 ? "M" : "L", coordinate(at.across(seconds_of(course, index))),
                            coordinate(at.up(stacked.ends[part][index])));
    }
    for (std::size_t index = count; index-- > 0;) {
        path += fmt::format("L{} {}", coordinate(at.across(seconds_of(course, index))),
                            coordinate(at.up(part == 0 ? 0 : stacked.ends[part - 1][index])));
    }
    return path + "z";
}

}

std::string course_figure(const memory_course& course, std::string_view id) {
    const stacked_parts stacked(course);
    const frame at{scale::for_range(seconds_of(course, 0), seconds_of(course, course.moments.size() - 1), plot_width),
                   scale::for_parts(stacked.ends.back(), plot_height)};
    svg picture(width, bottom + 36, id, "Resident memory over time",
                fmt::format("{}; the maps below are of some of them", count_text(course.moments.size(), "file")));
    draw_axes(picture, at);
    std::string key;
    for (std::size_t part = 0; part < stacked.parts.size(); ++part) {
        if (stacked.is_empty(part)) continue;
        const memory_part& what = stacked.parts[part];
        picture.open(fmt::format("{}: {} at last", what.name, size_text(static_cast<double>(what.bytes))));
        picture.path(area_of(course, stacked, part, at), fmt::format("a{}", part));
        picture.close();
        key.insert(0, fmt::format("<li><svg viewBox=\"0 0 9 9\" aria-hidden=\"true\"><rect class=\"a{}\" width=\"9\" "
                                  "height=\"9\"/></svg>{}</li>\n",
                                  part, escaped(what.name))); // from the top, as in the picture
    }
    return fmt::format("<figure class=\"wide\"><figcaption><strong>Resident</strong> <span class=\"unit\">MiB</span>"
                       "</figcaption>{}</figure>\n<ul class=\"key\">\n{}</ul>\n",
                       picture.str(), key);
}

std::string course_text(const memory_course& course, std::size_t rows) {
    std::string text =
        fmt::format("\nover time, {}\n{:>14}  {:>9}", count_text(course.moments.size(), "file"), "after", "resident");
    constexpr std::array<std::string_view, 6> titles{"in use", "held", "cached", "free", "records", "other"};
    for (const std::string_view each : titles) text += fmt::format("  {:>8}", each);
    text += "\n";
    std::size_t left_out = 0;
    for (std::size_t index = 0; index < course.moments.size(); ++index) {
        if (!has_map(index, course.moments.size(), rows)) {
            ++left_out;
            continue;
        }
        const memory_moment& each = course.moments[index];
        const memory_parts& of = each.parts;
        text +=
            fmt::format("{:>14}  {:>9}", age_text(course.age_ms(each)), size_text(static_cast<double>(of.resident)));
        for (const std::uint64_t part : {of.live, of.held, of.cached, of.waiting + of.slack, of.records, of.others})
            text += fmt::format("  {:>8}", size_text(static_cast<double>(part)));
        text += each.written_at == profile_format::occasion::exit ? "  at the end\n" : "\n";
    }
    if (left_out != 0) text += fmt::format("     … {} between these\n", count_text(left_out, "more file"));
    return text;
}

nlohmann::json json_of_course(const memory_course& course) {
    nlohmann::json all = nlohmann::json::array();
    for (const memory_moment& each : course.moments) {
        nlohmann::json parts;
        for (const memory_part& part : all_parts(each.parts, each.malloc_file))
            parts[std::string{part.key}] = part.bytes;
        all.push_back({{"file", each.file},
                       {"saved_ms", each.saved_ms},
                       {"resident_bytes", each.parts.resident},
                       {"parts", std::move(parts)},
                       {"unexplained_bytes", each.parts.unexplained}});
    }
    return all;
}

}
