// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/timeline_chart.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "observe/watch/blame.hpp"
#include "observe/watch/report/figures.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/html/html_words.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

constexpr double left = 132;
constexpr double axis_pixels = static_cast<double>(timeline_columns);
constexpr double width = left + axis_pixels + 8;
constexpr double top = 16;
constexpr double axis_height = 20;
constexpr std::size_t many_lanes = 16; // from here on lanes are lower and marks have no words
constexpr double narrowest = 0.5;
constexpr double narrowest_pattern = 4;

/// The look of a kind of wait: its fill, its word in a wide mark, and its part of the lane's height.
struct kind_look {
    std::string_view fill, word;
    double from, to;
};
constexpr std::array<kind_look, wait_kinds> looks{{{"lock", "lock", 0, 1},
                                                   {"runtime", "runtime", 0, 0.75},
                                                   {"heap", "heap", 0.5, 1},
                                                   {"mapping", "mapping", 0.25, 1},
                                                   {"library", "C library", 0, 0.5},
                                                   {"input", "I/O", 0.25, 0.75},
                                                   {"sleep", "sleep", 0.375, 0.625}}};

const kind_look& look_of(wait_kind kind) { return looks[static_cast<std::size_t>(kind)]; }

/// The tooltip text of sites, cached because each is used many times.
class site_words {
public:
    explicit site_words(const watched_region& region) : region_(region) {}

    const std::string& of(std::size_t site) {
        const auto [entry, is_new] = words_.try_emplace(site);
        if (is_new) entry->second = made(site);
        return entry->second;
    }

private:
    [[nodiscard]] std::string made(std::size_t index) const {
        constexpr std::size_t longest = 56;
        if (index >= region_.sites.size()) return "at an unknown place";
        const watched_site& site = region_.sites[index];
        std::string words = fmt::format("#{} {}", index + 1, clipped(what_happens(site), longest));
        if (site.blamed >= site.stack.size()) return words;
        const named_frame& frame = site.stack[site.blamed];
        words += fmt::format(", in {}", clipped(readable(shown(frame)), longest));
        const std::string place = shown_place(frame);
        return place.empty() ? words : fmt::format("{} ({})", words, clipped(place, longest));
    }

    const watched_region& region_;
    std::map<std::size_t, std::string> words_;
};

std::string tip_of(const timeline_mark& mark, const std::string& site) {
    if (mark.count == 1) return fmt::format("{}: {}", time_text(mark.wait_ns), site);
    return fmt::format("{} waits, {}, the longest {}: {}", whole_text(mark.count), time_text(mark.wait_ns),
                       time_text(mark.longest_ns), site);
}

class drawing {
public:
    explicit drawing(const timeline_chart& chart)
        : chart_(chart), axis_(scale::for_range(0, chart.drawn.shown.ns(), axis_pixels)), words_(chart.region),
          is_crowded_(chart.drawn.lanes.size() > many_lanes), lane_(is_crowded_ ? 12 : 20), bar_(is_crowded_ ? 9 : 15),
          bottom_(top + lane_ * static_cast<double>(chart.drawn.lanes.size())),
          picture_(width, bottom_ + axis_height, chart.id, chart.title, description()) {}

    std::string drawn() {
        draw_axis();
        for (std::size_t index = 0; index < chart_.drawn.lanes.size(); ++index) {
            const double y = top + lane_ * static_cast<double>(index) + (lane_ - bar_) / 2;
            draw_lane(chart_.drawn.lanes[index], y);
        }
        if (chart_.closer != nullptr) draw_closer(*chart_.closer);
        return picture_.str();
    }

private:
    [[nodiscard]] std::string description() const {
        std::uint64_t waits = 0;
        double ns = 0;
        for (const timeline_lane& lane : chart_.drawn.lanes) {
            for (const timeline_mark& mark : lane.marks) {
                waits += mark.count;
                ns += mark.wait_ns;
            }
        }
        return fmt::format("{}, {} of {} in all, over {}.", counted(chart_.drawn.lanes.size(), "thread"),
                           counted(waits, "wait"), time_text(ns), time_text(chart_.drawn.shown.ns()));
    }

    [[nodiscard]] double x_of(double ns) const { return left + axis_.place(ns - chart_.drawn.shown.first_ns); }
    [[nodiscard]] double pixels_of(double ns) const { return axis_.place(ns); }

    void draw_axis() {
        for (const double tick : axis_.ticks()) {
            const double x = left + axis_.place(tick);
            picture_.line(x, top, x, bottom_, "grid");
            const bool is_last = x > left + axis_pixels - 24;
            picture_.text(x, bottom_ + 14, tick > 0 ? time_text(tick) : "0", "tick",
                          is_last ? anchor::end : anchor::middle);
        }
    }

    void draw_lane(const timeline_lane& lane, double y) {
        std::string stays;
        for (const timeline_stay& each : lane.stays) {
            const double pixels = std::max(pixels_of(each.last_ns - each.first_ns), narrowest);
            stays += fmt::format("M{} {}h{}v{}h-{}z", coordinate(x_of(each.first_ns)), coordinate(y),
                                 coordinate(pixels), coordinate(bar_), coordinate(pixels));
        }
        picture_.path(stays, "stay");
        picture_.open(tip_of_lane(lane));
        constexpr std::size_t letters = 18;
        const timeline_thread& thread = *lane.thread;
        const std::string id = std::to_string(thread.thread);
        const std::size_t room = letters > id.size() + 2 ? letters - id.size() - 1 : 1;
        picture_.text(left - 6, y + bar_ - (is_crowded_ ? 1 : 3),
                      thread.name.empty() ? id : fmt::format("{} {}", clipped(thread.name, room), id), "tick",
                      anchor::end);
        picture_.close();
        for (const timeline_mark& each : lane.marks) draw_mark(each, y);
    }

    static std::string tip_of_lane(const timeline_lane& lane) {
        double inside = 0, waited = 0;
        std::uint64_t waits = 0;
        for (const timeline_stay& each : lane.stays) inside += each.last_ns - each.first_ns;
        for (const timeline_mark& each : lane.marks) {
            waited += each.wait_ns;
            waits += each.count;
        }
        return fmt::format("{} (thread {}): inside for {}, {} of {} in all", lane.thread->name, lane.thread->thread,
                           time_text(inside), counted(waits, "wait"), time_text(waited));
    }

    void draw_mark(const timeline_mark& mark, double y) {
        constexpr double widest_letter = 6.5;
        const kind_look& look = look_of(mark.kind);
        const double x = x_of(mark.first_ns);
        const double pixels = std::max(pixels_of(mark.wait_ns), narrowest);
        picture_.open(tip_of(mark, words_.of(mark.site)));
        picture_.rect(x, y + look.from * bar_, pixels, (look.to - look.from) * bar_,
                      fmt::format("{}-{}", pixels < narrowest_pattern ? "t" : "f", look.fill));
        const std::string word = fmt::format("{} #{}", look.word, mark.site + 1);
        if (!is_crowded_ && mark.site < chart_.region.sites.size() &&
            pixels > widest_letter * static_cast<double>(word.size()) + 4) {
            picture_.text(x + pixels / 2, y + bar_ / 2 + 4, word, "note", anchor::middle);
        }
        picture_.close();
    }

    /// Draws a bracket over the lanes.
    void draw_closer(const stretch& closer) {
        const double x = x_of(closer.first_ns);
        const double pixels = std::max(pixels_of(closer.ns()), 2.0);
        picture_.open("The part that is enlarged below");
        picture_.rect(x, top - 3, pixels, bottom_ - top + 6, "closer");
        const bool is_right = x > left + axis_pixels / 2;
        picture_.text(is_right ? x + pixels : x, top - 6, "larger below", "tick",
                      is_right ? anchor::end : anchor::start);
        picture_.close();
    }

    const timeline_chart& chart_;
    scale axis_;
    site_words words_;
    bool is_crowded_;
    double lane_, bar_, bottom_;
    svg picture_;
};

}

std::string timeline_svg(const timeline_chart& chart) { return drawing(chart).drawn(); }

std::string timeline_legend(const drawn_timeline& drawn) {
    std::array<bool, wait_kinds> seen{};
    for (const timeline_lane& lane : drawn.lanes) {
        for (const timeline_mark& mark : lane.marks) seen[static_cast<std::size_t>(mark.kind)] = true;
    }
    constexpr double height = 12;
    constexpr std::string_view swatch = "<li><svg class=\"swatch wide\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">"
                                        "<rect width=\"34\" height=\"12\" class=\"stay\"/>";
    std::string text = fmt::format("<ul class=\"legend\">\n{}</svg> in the region</li>\n", swatch);
    for (std::size_t index = 0; index < wait_kinds; ++index) {
        if (!seen[index]) continue;
        const kind_look& look = looks[index];
        text += fmt::format("{}<rect x=\"4\" y=\"{}\" width=\"26\" height=\"{}\" class=\"f-{}\"/></svg> {}</li>\n",
                            swatch, coordinate(look.from * height), coordinate((look.to - look.from) * height),
                            look.fill, escaped(words_of(static_cast<wait_kind>(index))));
    }
    return text + "</ul>\n";
}

}
