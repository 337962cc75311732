// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/svg.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/html/html_words.hpp"

namespace tenure::lab {

std::string coordinate(double value) {
    const auto tenths = std::llround(value * 10.0);
    return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                            : fmt::format("{:.1f}", static_cast<double>(tenths) / 10.0);
}

svg::svg(double width, double height, std::string_view id, std::string_view title, std::string_view description)
    : body_(fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}-t {}-d\"><title id=\"{}-t\">{}"
                        "</title><desc id=\"{}-d\">{}</desc>\n",
                        coordinate(width), coordinate(height), id, id, id, escaped(title), id, escaped(description))) {}

svg svg::alone(double width, double height, std::string_view title, std::string_view description,
               std::string_view style) {
    return svg(fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "aria-labelledby=\"title description\">\n<title id=\"title\">{2}</title>\n<desc id=\"description\">{3}</desc>\n"
        "<style>{4}</style>\n",
        coordinate(width), coordinate(height), escaped(title), escaped(description), style));
}

void svg::rect(double x, double y, double width, double height, std::string_view css) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n", coordinate(x),
                         coordinate(y), coordinate(width), coordinate(height), css);
}

void svg::line(double x1, double y1, double x2, double y2, std::string_view css) {
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", coordinate(x1),
                         coordinate(y1), coordinate(x2), coordinate(y2), css);
}

void svg::circle(double x, double y, double radius, std::string_view css) {
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", coordinate(x), coordinate(y),
                         coordinate(radius), css);
}

void svg::path(std::string_view commands, std::string_view css) {
    if (!commands.empty()) body_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", commands, css);
}

void svg::text(double x, double y, std::string_view words, std::string_view css, anchor at) {
    static constexpr std::array<std::string_view, 3> ends{"start", "middle", "end"};
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", coordinate(x),
                         coordinate(y), css, ends[static_cast<std::size_t>(at)], escaped(words));
}

void svg::open(std::string_view tip) { body_ += fmt::format("<g><title>{}</title>\n", escaped(tip)); }

void svg::close() { body_ += "</g>\n"; }

}
