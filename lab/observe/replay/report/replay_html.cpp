// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/replay_html.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "observe/replay/report/memory_chart.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "report/html/html.hpp"
#include "report/html/html_section.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t shown_columns = 10;

/// The places that a table shows: the one at each tenth of the events.
std::vector<std::size_t> shown_places(const memory_over_trace& memory) {
    std::vector<std::size_t> shown;
    for (std::size_t tenth = 1; tenth <= shown_columns; ++tenth) {
        const double until = memory.events.back() * static_cast<double>(tenth) / shown_columns;
        std::size_t place = 0;
        while (place + 1 < memory.events.size() && memory.events[place] < until) ++place;
        shown.push_back(place);
    }
    return shown;
}

std::string head() {
    std::vector<std::string> titles{"malloc"};
    for (std::size_t tenth = 1; tenth <= shown_columns; ++tenth)
        titles.push_back(fmt::format("#{} %", tenth * 100 / shown_columns));
    return html_head({titles.begin(), titles.end()});
}

std::string row_head(const section& in, const memory_line& line) {
    return fmt::format("<tr{}><th scope=\"row\">{}</th>", line.part == role::ours ? " class=\"ours\"" : "",
                       html_name(line.who->name, line.part, line.who->name == in.found.baseline));
}

std::string cell_of(double value) {
    return element("td", std::isfinite(value) ? "class=\"num\"" : "class=\"num none\"", value_text(value));
}

std::string resident_table(const section& in, const memory_over_trace& memory) {
    const std::vector<std::size_t> places = shown_places(memory);
    std::string body = head() + "<tr><th scope=\"row\">live bytes</th>";
    for (const std::size_t place : places) body += cell_of(memory.live_mib[place]);
    body += "</tr>\n";
    for (const memory_line& line : memory.lines) {
        body += row_head(in, line);
        for (const std::size_t place : places) body += cell_of(line.mib[place]);
        body += "</tr>\n";
    }
    return html_table(in, "Resident after so many of the trace's events, in MiB", body + "</tbody>");
}

std::string fragmentation_table(const section& in, const memory_over_trace& memory) {
    const std::vector<std::size_t> places = shown_places(memory);
    std::string body = head();
    for (const memory_line& line : memory.lines) {
        body += row_head(in, line);
        for (const std::size_t place : places) body += cell_of(memory.fragmentation(line, place));
        body += "</tr>\n";
    }
    return html_table(in, "Resident bytes per live byte after so many of the trace's events", body + "</tbody>");
}

/// A chart along the program's time, and the same along the events, which show phases that took no time.
template<class Draw>
std::string along_both(const memory_over_trace& memory, std::string_view id, Draw draw) {
    const std::string by_events = draw(memory, trace_axis::events, fmt::format("{}-e", id));
    if (!memory.has_time()) return by_events;
    return draw(memory, trace_axis::seconds, fmt::format("{}-t", id)) +
           "<details><summary>The same by events of the trace</summary>\n" + by_events + "</details>\n";
}

std::string memory_section(const section& in, const memory_over_trace& memory, std::string_view about) {
    std::string text = "<section class=\"experiment\" id=\"over-time\">\n<h2>Memory over the trace</h2>\n";
    text += about;
    if (memory.is_empty())
        return text + (in.found.summarized ? "<p>A summary has no memory over the trace: draw the page from the whole "
                                             "result.</p>\n</section>\n"
                                           : "<p>No malloc was measured.</p>\n</section>\n");
    text += "<p class=\"about\">Private memory of a process that replays the trace on one thread, above what it had "
            "before the first call, and the bytes that the program had in use. Each value is the median of the "
            "rounds.</p>\n";
    text += memory_key(memory) + along_both(memory, "memory", draw_memory) + resident_table(in, memory);
    text +=
        fmt::format("<h3 id=\"fragmentation\">Fragmentation over the trace</h3>\n<p class=\"about\">How much memory "
                    "one byte in use takes. Not drawn where the program has less than {:.0f} % of its peak in use: "
                    "a few pages would then be many times the live bytes. The table \"Further figures\" has the "
                    "mean over the program's time.</p>\n",
                    least_live_share * 100);
    text += fragmentation_key(memory) + along_both(memory, "fragmentation", draw_fragmentation);
    return text + fragmentation_table(in, memory) + "</section>\n";
}

std::string_view limits() {
    return R"(<section class="closing" id="limits">
<h2>What a replay cannot know</h2>
<ul>
<li>The program's own work. Between two calls a program computes, and its data fills the caches; a replay makes the next
call at once. Of two mallocs the faster one in a replay can be the slower one in the program.</li>
<li>Which blocks the program touches, and when. The distances are of blocks that one call stack allocates one after the
other; whether the program visits them in that order is a guess.</li>
<li>What the program writes. New blocks are touched as <code>--touch</code> says; pages that the program never writes may
count here, or the other way round.</li>
<li>Time. A replay takes a fraction of the program's time, so a malloc that returns memory after a delay has returned less of
it at the same place of the trace.</li>
<li>Threads. Memory is read in a replay on one thread; caches of further threads are missing.</li>
<li>So the order of the mallocs can differ from that of the program. Before you choose one, run the program itself on the best
two.</li>
</ul>
</section>
)";
}

/// `data`: HTML, where the data of the page is.
std::string page_of(const result& found, std::string_view file, std::string_view facts, std::string data) {
    const layout laid = lay_out(found.experiments.front());
    const section in{found.experiments.front(), laid, build_mark(found.machine), "trace"};
    const memory_over_trace memory = memory_of(in.found);
    std::string about;
    for (std::size_t begin = 0; begin < facts.size();) {
        const std::size_t end = std::min(facts.find('\n', begin), facts.size());
        if (end > begin) about += element("p", "", facts.substr(begin, end - begin)) + "\n";
        begin = end + 1;
    }
    page_words words;
    words.title = fmt::format("Replay of {}", file);
    words.data = std::move(data);
    words.contents = "<li><a href=\"#over-time\">Memory over the trace</a>";
    if (!memory.is_empty()) words.contents += "\n<ul><li><a href=\"#fragmentation\">Fragmentation</a></li></ul>";
    words.contents += "</li>\n<li><a href=\"#limits\">What a replay cannot know</a></li>\n";
    words.sections = memory_section(in, memory, about) + std::string(limits());
    words.style = memory_style();
    return to_html(found, words);
}

}

std::string replay_page(const result& found, std::string_view file, std::string_view facts) {
    return page_of(found, file, facts,
                   "With <code>--json FILE</code> the command writes the same data, of all rounds.");
}

bool is_replay(const result& found) {
    return !found.experiments.empty() && found.experiments.front().name == replay_name;
}

std::string replay_page_of_file(const result& found, std::string_view path) {
    std::string_view trace = "a trace";
    for (const parameter& each : found.experiments.front().parameters)
        if (each.name == "--input" && !each.value.empty()) trace = each.value;
    return page_of(found, trace, {}, fmt::format("The page was drawn from {}.", element("code", "", path)));
}

}
