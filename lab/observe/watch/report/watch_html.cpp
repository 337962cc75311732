// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_html.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "observe/watch/report/figures.hpp"
#include "observe/watch/report/region_html.hpp"
#include "observe/watch/report/watch_style.hpp"
#include "report/html/html_style.hpp"
#include "report/html/html_words.hpp"

namespace tenure::lab {

namespace {

// Whatever the data contains, the page can load nothing and run nothing.
constexpr std::string_view policy = "default-src 'none'; style-src 'unsafe-inline'";

// Limits that keep the page small. A mark in a timeline takes about 200 bytes.
constexpr std::size_t max_regions = 12;
constexpr std::size_t max_rows = 200;
constexpr std::size_t max_marks = 8000;
constexpr std::size_t min_marks = 200;

std::string words_of(const watched_process& process) {
    if (process.signal != 0) return "by " + signal_text(process.signal);
    switch (process.end) {
    case hook::process_end::none_seen:
        return process.has_exit_code ? fmt::format("with code {}, perhaps as another program", process.exit_code)
                                     : "unknown: killed or crashed";
    case hook::process_end::exit: return "by itself";
    case hook::process_end::quick_exit: return "by itself, without exit handlers";
    case hook::process_end::exec: return "became another program";
    }
    return "unknown";
}

std::string lost_words(const watched_process& process) {
    std::string text;
    const auto add = [&text](std::uint64_t count, std::string_view noun, std::string_view words) {
        if (count == 0) return;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counted(count, noun), words);
    };
    add(process.lost_threads, "thread", "without a record");
    add(process.lost_stacks + process.lost_sites + process.lost_nodes, "call", "counted without their place");
    return text;
}

std::string processes_of(const findings& found) {
    std::string rows;
    const std::size_t count = std::min(found.processes.size(), max_rows);
    for (std::size_t index = 0; index < count; ++index) {
        const watched_process& each = found.processes[index];
        const std::string number =
            each.is_child ? fmt::format("{}, child of {}", each.process, each.parent) : std::to_string(each.process);
        std::string notes = lost_words(each);
        if (each.has_own_malloc) {
            notes += fmt::format("{}a malloc of its own: allocations are not seen", notes.empty() ? "" : ", ");
        }
        rows +=
            fmt::format("<tr>{}{}{}{}{}{}</tr>\n",
                        element("th", "scope=\"row\"", each.command.empty() ? each.program : each.command),
                        element("td", "class=\"num\"", number), element("td", "class=\"num\"", time_text(each.span_ns)),
                        element("td", "class=\"num\"", whole_text(each.threads)), element("td", "", words_of(each)),
                        element("td", "", notes));
    }
    if (rows.empty()) return {};
    std::string text = "<section class=\"closing\" id=\"processes\">\n<h2>Processes</h2>\n";
    text +=
        watch_table("The watched processes.", {"command", "#process", "#time", "#threads", "ended", ""}, rows, "words");
    if (count < found.processes.size()) {
        text += element("p", "", fmt::format("… and {} more in the JSON.", found.processes.size() - count));
    }
    return text + "</section>\n";
}

std::string region_link(std::size_t index) { return fmt::format("r{}", index + 1); }

/// One row per region; those with a section of their own have a link to it.
std::string regions_table(const findings& found) {
    std::string rows;
    const std::size_t count = std::min(found.regions.size(), max_rows);
    for (std::size_t index = 0; index < count; ++index) {
        const watched_region& each = found.regions[index];
        const std::string name = index < max_regions
                                     ? fmt::format("<a href=\"#{}\">{}</a>", region_link(index), escaped(each.name))
                                     : escaped(each.name);
        rows +=
            fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}{}{}{}</tr>\n", name, element("td", "", about_region(each)),
                        element("td", "class=\"num\"", time_text(each.time.total_ns)),
                        element("td", "class=\"num\"", percent_text(allocation_share(each), 1)),
                        element("td", "class=\"num\"", percent_text(waiting_share(each), 1)),
                        element("td", "class=\"num\"", percent_text(each.time.idle_ns, each.time.total_ns)),
                        element("td", "class=\"num\"", std::to_string(each.process)));
    }
    std::string text = "<section class=\"closing\" id=\"regions\">\n<h2>Regions</h2>\n";
    text += watch_table("The region with the most time comes first.",
                        {"region", "what it is", "#time x threads", "#allocation", "#waiting", "#idle", "#process"},
                        rows, "words");
    if (count < found.regions.size()) {
        text += element("p", "", fmt::format("… and {} more in the JSON.", found.regions.size() - count));
    }
    return text + "</section>\n";
}

std::uint64_t waits_in(const watched_region& region) {
    std::uint64_t count = 0;
    for (const timeline_thread& each : region.timeline) count += each.waits.size();
    return count;
}

/// The sections. The mark limit is divided among their timelines in proportion to their waits.
std::string sections_of(const findings& found) {
    const std::size_t count = std::min(found.regions.size(), max_regions);
    std::uint64_t waits = 0;
    for (std::size_t index = 0; index < count; ++index) waits += waits_in(found.regions[index]);
    std::string text;
    for (std::size_t index = 0; index < count; ++index) {
        const watched_region& each = found.regions[index];
        const std::size_t marks = waits == 0 ? 0 : max_marks * waits_in(each) / waits;
        text += html_region(each, region_link(index), std::max(marks, min_marks));
    }
    if (!text.empty()) return text;
    const no_regions about = about_no_regions(found);
    return element("p", "", escaped(about.what) + " " + escaped(about.advice));
}

std::string head_of(const findings& found) {
    std::string text = "<header>\n<h1>Tenure watch</h1>\n";
    if (!found.processes.empty()) {
        const watched_process& first = found.processes.front();
        text += fmt::format("<p><code>{}</code></p>\n", escaped(first.command.empty() ? first.program : first.command));
        text += element("p", "",
                        fmt::format("{} process{} · {} · {}", found.processes.size(),
                                    found.processes.size() == 1 ? "" : "es", time_text(first.span_ns),
                                    counted(found.regions.size(), "region"))) +
                "\n";
    }
    for (const std::string& each : found.notices) text += element("p", "class=\"notice\"", each + ".") + "\n";
    if (const std::string marks = moments_text(found); !marks.empty()) text += element("p", "", marks) + "\n";
    return text + "</header>\n";
}

std::string contents_of(const findings& found) {
    std::string text = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ul>\n";
    if (!found.processes.empty()) text += "<li><a href=\"#processes\">Processes</a></li>\n";
    if (!found.regions.empty()) text += "<li><a href=\"#regions\">Regions</a></li>\n";
    for (std::size_t index = 0; index < std::min(found.regions.size(), max_regions); ++index) {
        text +=
            fmt::format("<li><a href=\"#{}\">{}</a></li>\n", region_link(index), escaped(found.regions[index].name));
    }
    return text + "<li><a href=\"#reading\">How to read this</a></li>\n</ul>\n</nav>\n";
}

std::string_view how_to_read() {
    return R"(<section class="closing" id="reading">
<h2>How to read this</h2>
<ul>
<li>A region's <b>time</b> is its duration times its threads; its parts add up to it. <b>Idle</b> is the time in which
threads were not in the region: late, early, or without work.</li>
<li>A <b>place</b> is a call from one line of the program, in all threads. Its time is the time of its waits; for an
allocation, a free or a mapping it is the whole time of the call. <b>Longest</b> is its longest wait, or its longest
call if it has no waits. <b>Slow</b> calls took much longer than usual although the thread did not sleep: the kernel
mapped new pages for it, or preempted it.</li>
<li>A <b>lane</b> of a timeline is a thread. Waits in the same column of the picture share one mark, as wide as all of
them together; the mark's tooltip counts them. Its number is that of the place in the table.</li>
<li>Calls that the C library makes internally and threads that spin without a call are not seen as waits.</li>
</ul>
</section>
)";
}

}

std::string to_html(const findings& found) {
    const std::string title = found.processes.empty() ? std::string{} : escaped(found.processes.front().program);
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                       "http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<meta name=\"viewport\" "
                       "content=\"width=device-width, initial-scale=1\">\n<title>Tenure watch {}</title>\n<style>{}{}"
                       "</style>\n</head>\n<body>\n{}<div class=\"page\">\n{}<div class=\"body\">\n{}<main>\n{}{}{}{}"
                       "</main>\n</div>\n</div>\n</body>\n</html>\n",
                       policy, title, html_style(), watch_style(), watch_patterns(), head_of(found), contents_of(found),
                       processes_of(found), found.regions.empty() ? std::string{} : regions_table(found),
                       sections_of(found), how_to_read());
}

}
