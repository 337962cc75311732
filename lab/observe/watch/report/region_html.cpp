// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/region_html.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "observe/watch/advice.hpp"
#include "observe/watch/blame.hpp"
#include "observe/watch/report/figures.hpp"
#include "observe/watch/report/timeline_chart.hpp"
#include "report/chart/svg.hpp"
#include "report/html/html_words.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t open_sites = 10; // shown without opening anything
constexpr std::size_t max_sites = 100; // the JSON has the rest; the page stays small and readable
constexpr std::size_t max_stacks = 20;
constexpr std::size_t max_frames = 30;
constexpr double closer_share = 1.0 / 50;

struct part {
    std::string_view name, fill;
    double ns;
    std::string about;
};

std::array<part, 8> parts_of(const watched_region& region) {
    const region_time& time = region.time;
    const kernel_account& kernel = region.kernel;
    std::string waiting = about_waiting(region);
    if (region.quick_locks > 0)
        waiting += fmt::format("; {} taken without waiting", counted(region.quick_locks, "lock"));
    return {{{"running", "running", time.running_ns, {}},
             {"waiting", "lock", time.waiting_ns, std::move(waiting)},
             {"allocation", "heap", time.allocation_ns, about_allocation(region)},
             {"mapping memory", "mapping", time.mapping_ns, {}},
             {"page faults", "faults", time.faults_ns,
              counted(kernel.small_faults + kernel.large_faults, "page") + ", estimated"},
             {"no processor free", "queued", time.queued_ns, counted(kernel.involuntary, "time") + " preempted"},
             {"idle", "idle", time.idle_ns, stays_of(region)},
             {"not explained", "unexplained", time.unexplained_ns, "asleep outside of every intercepted call"}}};
}

std::string bar_of(const watched_region& region, std::string_view prefix) {
    constexpr double width = 1000, height = 30, widest_letter = 7;
    const std::array<part, 8> parts = parts_of(region);
    std::string words;
    for (const part& each : parts) {
        if (each.ns > 0) {
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", each.name,
                                 percent_text(each.ns, region.time.total_ns));
        }
    }
    svg picture(width, height + 2, fmt::format("{}-bar", prefix), "Where the time went", words);
    double x = 0;
    for (const part& each : parts) {
        if (!(each.ns > 0) || !(region.time.total_ns > 0)) continue;
        const double pixels = std::min(width * each.ns / region.time.total_ns, width - x);
        const std::string share = percent_text(each.ns, region.time.total_ns);
        picture.open(fmt::format("{}: {}, {}", each.name, share, time_text(each.ns)));
        picture.rect(x, 1, std::max(pixels, 0.5), height, fmt::format("f-{}", each.fill));
        const std::string label = fmt::format("{} {}", each.name, share);
        if (pixels > widest_letter * static_cast<double>(label.size())) {
            picture.text(x + pixels / 2, height / 2 + 5, label, "note", anchor::middle);
        }
        picture.close();
        x += pixels;
    }
    return fmt::format("<figure>{}</figure>\n", picture.str());
}

std::string parts_table(const watched_region& region) {
    std::string rows;
    for (const part& each : parts_of(region)) {
        if (!(each.ns > 0)) continue;
        rows += fmt::format(
            "<tr><th scope=\"row\"><svg class=\"swatch\" viewBox=\"0 0 16 11\" aria-hidden=\"true\"><rect "
            "width=\"16\" height=\"11\" class=\"f-{}\"/></svg> {}</th>{}{}{}</tr>\n",
            each.fill, each.name, element("td", "class=\"num\"", percent_text(each.ns, region.time.total_ns)),
            element("td", "class=\"num\"", time_text(each.ns)), element("td", "", each.about));
    }
    return watch_table("The region's duration times its threads.", {"part", "#share", "#time", ""}, rows);
}

std::string kernel_of(const kernel_account& kernel) {
    if (!(kernel.processor_ns > 0)) return {};
    return element("p", "class=\"about\"", about_kernel(kernel)) + "\n";
}

std::string frame_item(const named_frame& frame, bool is_blamed) {
    const std::string place = shown_place(frame);
    std::string words = escaped(readable(shown(frame)));
    if (!place.empty()) words += fmt::format(" <span class=\"unit\">{}</span>", escaped(place));
    if (frame.is_inlined) words += " <span class=\"unit\">inlined</span>";
    return fmt::format("<li{}>{}</li>\n", is_blamed ? " class=\"blamed\"" : "", words);
}

std::string stack_of(const watched_site& site) {
    std::string text = "<details><summary>stack</summary>\n<ol>\n";
    for (std::size_t index = 0; index < std::min(site.stack.size(), max_frames); ++index) {
        text += frame_item(site.stack[index], index == site.blamed);
    }
    text += "</ol>\n";
    const auto paragraph = [&text](const std::string& words) {
        if (!words.empty()) text += element("p", "", words) + "\n";
    };
    if (site.stack.size() > max_frames) {
        paragraph(fmt::format("… and {} further out", counted(site.stack.size() - max_frames, "frame")));
    }
    const auto most = std::max_element(site.holders.begin(), site.holders.end(),
                                       [](const auto& left, const auto& right) { return left.second < right.second; });
    if (most != site.holders.end()) paragraph(fmt::format("Held most often by thread {}.", most->first));
    if (site.slow > 0) {
        paragraph(
            fmt::format("{} slow without sleeping, {} in all.", counted(site.slow, "call"), time_text(site.slow_ns)));
    }
    paragraph(advice_for(site));
    return text + "</details>";
}

std::string where_of(const watched_site& site, bool with_stack) {
    if (site.blamed >= site.stack.size()) return "an unknown place";
    const named_frame& frame = site.stack[site.blamed];
    const std::string place = shown_place(frame);
    std::string text = escaped(readable(shown(frame)));
    if (!place.empty()) text += fmt::format(" <span class=\"unit\">{}</span>", escaped(place));
    return with_stack ? text + "\n" + stack_of(site) : text;
}

std::string site_row(const watched_region& region, std::size_t index) {
    const watched_site& site = region.sites[index];
    const double cost = cost_of(site);
    const auto number = [](const std::string& words) { return element("td", "class=\"num\"", words); };
    return fmt::format(
        "<tr>{}{}{}{}<td class=\"where\">{}</td>{}{}{}{}{}</tr>\n",
        element("th", "scope=\"row\"", fmt::format("#{} {}", index + 1, what_happens(site))),
        number(percent_text(cost, region.time.total_ns)), number(time_text(cost)),
        number(time_text(site.waits > 0 ? site.longest_wait_ns : site.longest_ns)), where_of(site, index < max_stacks),
        number(whole_text(site.count)), number(whole_text(site.waits)),
        number(site.bytes > 0 ? bytes_text(site.bytes) : "–"),
        number(fmt::format("{}{}", whole_text(std::uint64_t{site.threads.size()}), site.has_more_threads ? "+" : "")),
        number(site.slow > 0 ? whole_text(site.slow) : "–"));
}

std::string sites_table(const watched_region& region, std::string_view caption, std::size_t first, std::size_t last) {
    std::string rows;
    for (std::size_t index = first; index < last; ++index) rows += site_row(region, index);
    return watch_table(
        caption, {"what", "#share", "#time", "#longest", "where", "#calls", "#waits", "#memory", "#threads", "#slow"},
        rows, "places");
}

std::string sites_of(const watched_region& region) {
    const std::size_t count = region.sites.size();
    if (count == 0) return "<p>No watched call was made in it.</p>\n";
    std::string text = sites_table(region, "The most expensive first: time in waits, allocation and mapping.", 0,
                                   std::min(count, open_sites));
    if (count <= open_sites) return text;
    const std::size_t last = std::min(count, max_sites);
    text += fmt::format("<details><summary>{} more</summary>\n{}", counted(last - open_sites, "place"),
                        sites_table(region, "The other places.", open_sites, last));
    if (last < count) text += element("p", "", fmt::format("… and {} more in the JSON.", whole_text(count - last)));
    return text + "</details>\n";
}

std::string figure_of(const std::string& picture, std::string_view caption) {
    return fmt::format("<figure class=\"timeline\"><figcaption>{}</figcaption>\n{}</figure>\n", escaped(caption),
                       picture);
}

std::string notes_of(const drawn_timeline& drawn) {
    std::string text;
    if (drawn.thinned > 0) {
        text += element("p", "class=\"about\"",
                        fmt::format("{} shorter than these: counted in the table, not drawn.",
                                    counted(drawn.thinned, "wait"))) +
                "\n";
    }
    if (drawn.left_out > 0) {
        text += element("p", "class=\"about\"",
                        fmt::format("{} that waited less: not drawn.", counted(drawn.left_out, "thread"))) +
                "\n";
    }
    return text;
}

std::string timelines_of(const watched_region& region, std::string_view prefix, std::size_t marks) {
    const stretch whole = whole_stretch(region);
    if (region.timeline.empty() || !(whole.ns() > 0)) return {};
    timeline_limits limits;
    limits.columns = timeline_columns;
    limits.marks = std::max<std::size_t>(marks * 3 / 5, 1);
    const drawn_timeline drawn = lay_out_timeline(region, whole, limits);
    const stretch dense = densest_stretch(region, whole, closer_share);
    const bool is_closer = drawn.is_merged && dense.ns() > 0 && dense.ns() < whole.ns();
    std::string text =
        fmt::format("<h3 id=\"{}-threads\">Threads</h3>\n", prefix) + timeline_legend(drawn) + notes_of(drawn);
    const std::string whole_id = fmt::format("{}-whole", prefix);
    text += figure_of(timeline_svg({region, drawn, whole_id, "The threads over time", is_closer ? &dense : nullptr}),
                      fmt::format("{}, from {} after the process began. Each wait is drawn at least half a pixel wide.",
                                  time_text(whole.ns()), time_text(whole.first_ns)));
    if (!is_closer) return text;
    limits.marks = std::max<std::size_t>(marks - limits.marks, 1);
    const drawn_timeline closer = lay_out_timeline(region, dense, limits);
    const std::string closer_id = fmt::format("{}-closer", prefix);
    return text + figure_of(timeline_svg({region, closer, closer_id, "Where most waits are", nullptr}),
                            fmt::format("The {} with the most waits, from {} after the start of the first picture.",
                                        time_text(dense.ns()), time_text(dense.first_ns - whole.first_ns)));
}

}

std::string about_region(const watched_region& region) {
    std::string text = word_of(region.kind);
    if (!region.place.empty()) text += ", " + region.place;
    text += ", " + counted(region.threads, "thread");
    if (region.instances > 1) text += fmt::format(", {} times", whole_text(region.instances));
    if (region.is_open) text += ", not ended";
    return text;
}

std::string watch_table(std::string_view caption, const std::vector<std::string_view>& titles, std::string_view rows,
                        std::string_view css) {
    std::string head;
    for (const std::string_view title : titles) {
        const bool number = title.starts_with('#');
        head += element("th", number ? "scope=\"col\" class=\"num\"" : "scope=\"col\"", title.substr(number ? 1 : 0));
    }
    return fmt::format("<div class=\"scroll\"><table{}><caption><span>{}</span></caption>\n<thead><tr>{}</tr></thead>\n"
                       "<tbody>\n{}</tbody></table></div>\n",
                       css.empty() ? "" : fmt::format(" class=\"{}\"", css), escaped(caption), head, rows);
}

std::string html_region(const watched_region& region, std::string_view prefix, std::size_t marks) {
    const region_time& time = region.time;
    std::string text =
        fmt::format("<section class=\"experiment\" id=\"{}\">\n{}\n", prefix, element("h2", "", region.name));
    text += element("p", "class=\"about\"",
                    fmt::format("{}, process {}, over {}: {} of {} time.", about_region(region), region.process,
                                time_text(region.span_ns), time_text(time.total_ns),
                                region.threads == 1 ? "its" : "their")) +
            "\n";
    text += fmt::format(
        "<div class=\"summary\">\n{}\n{}\n</div>\n", element("p", "", region.advice),
        element("p", "",
                fmt::format("Lost to allocation: {}. To waiting: {}.", percent_text(allocation_share(region), 1),
                            percent_text(waiting_share(region), 1))));
    text += fmt::format("<h3 id=\"{}-time\">Where the time went</h3>\n{}{}{}", prefix, bar_of(region, prefix),
                        parts_table(region), kernel_of(region.kernel));
    text += fmt::format("<h3 id=\"{}-places\">Places</h3>\n{}", prefix, sites_of(region));
    return text + timelines_of(region, prefix, marks) + "</section>\n";
}

}
