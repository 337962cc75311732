// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/report/pins_html.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "observe/pins/report/course_chart.hpp"
#include "observe/pins/report/pins_text.hpp"
#include "observe/profile/report/profile_html.hpp"
#include "observe/profile/report/profile_text.hpp"
#include "report/html/html_style.hpp"
#include "report/html/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

constexpr std::string_view rules = R"css(
figure.map { overflow-x: auto; margin: .6rem 0; }
figure.map > svg { min-width: 40rem; width: 100%; background: var(--panel); }
.m0 { fill: #9aa3ad; } .m1 { fill: #dfe4ea; } .m2 { fill: #cfe1f5; } .m3 { fill: #9dc3ea; } .m4 { fill: #5f9bd8; }
.m5 { fill: #2b6cb0; } .t0 { fill: #d1495b; } .t1 { fill: #edae49; } .t2 { fill: #66a182; } .t3 { fill: #8d5fd3; }
.t4 { fill: #d17b0f; }
.a0 { fill: #2b6cb0; } .a1 { fill: #d1495b; } .a2 { fill: #edae49; } .a3 { fill: #9dc3ea; } .a4 { fill: #66a182; }
.a5 { fill: #9aa3ad; } .a6 { fill: #c9c2d4; }
details.moment { margin: .4rem 0; } details.moment > summary { cursor: pointer; }
.key { list-style: none; padding: 0; } .key svg { width: .9rem; height: .9rem; margin-right: .4rem; }
td.where { min-width: 20rem; overflow-wrap: anywhere; }
td.where div { padding-left: 1rem; text-indent: -1rem; }
td.where small { color: var(--soft); }
@media print { svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)css";

constexpr std::size_t max_coloured = 5, max_rows = 200;
constexpr std::size_t columns = 256, max_cells = std::size_t{1} << 16U, cell_width = 4, cell_height = 6;
constexpr std::array<std::string_view, 6> fillings{"the heap's records", "no block in use",   "up to 25 % in use",
                                                   "up to 50 % in use",  "up to 75 % in use", "more than 75 % in use"};

/// A square of the map: some OS pages.
struct map_cell {
    std::uint64_t resident = 0, records = 0; ///< pages
    std::uint64_t live_bytes = 0;
    std::array<double, max_coloured> held{}; ///< by the coloured stacks
};

/// The pages of a square: as few as the number of squares allows, and at least a slice of the heap.
[[nodiscard]] std::uint64_t pages_per_cell(const saved_profile& saved) {
    constexpr std::uint64_t least = 8;
    for (std::uint64_t pages = least;; pages *= 2) {
        std::uint64_t cells = 0, last = UINT64_MAX;
        for (const format::page_run& each : saved.pages) {
            const std::uint64_t row_bytes = pages * format::page_bytes * columns;
            const std::uint64_t first = each.address / row_bytes;
            const std::uint64_t end = (each.address + std::uint64_t{each.pages} * format::page_bytes - 1) / row_bytes;
            cells += (end - first + std::uint64_t{first != last}) * columns;
            last = end;
        }
        if (cells <= max_cells) return pages;
    }
}

/// The same for the same stack in another profile of the process.
[[nodiscard]] std::string text_of(const profile_stack& stack) {
    std::string text = stack.tag;
    for (const profile_frame& frame : stack.frames) {
        for (const named_frame& each : frame.functions)
            text += fmt::format("\n{}\t{}\t{}", shown(each), each.file, each.line);
    }
    return text;
}

class heap_map {
public:
    heap_map(const saved_profile& saved, const named_profile& profile, const std::vector<std::string>& coloured)
        : pages_(pages_per_cell(saved)), saved_ms_(saved.header.saved_ms) {
        for (const format::page_run& each : saved.pages) add(each);
        std::map<std::uint32_t, std::size_t> rank_of_site;
        for (const profile_stack& each : profile.stacks) {
            const auto rank = std::find(coloured.begin(), coloured.end(), text_of(each));
            if (rank == coloured.end()) continue;
            for (const std::uint32_t site : each.sites)
                rank_of_site[site] = static_cast<std::size_t>(rank - coloured.begin());
        }
        for (const format::live_sample& each : saved.live) {
            const auto rank = rank_of_site.find(each.site);
            const auto cell = cells_.find(each.address / cell_bytes());
            if (rank != rank_of_site.end() && cell != cells_.end())
                cell->second.held[rank->second] += 1 / chance_of(each.block_bytes, saved.header.mean_bytes);
        }
    }

    [[nodiscard]] std::uint64_t cell_bytes() const { return pages_ * format::page_bytes; }
    /// The squares of each colour as one path.
    [[nodiscard]] std::string svg() const {
        std::map<std::string, std::string> paths;
        std::map<std::uint64_t, std::size_t> rows; // only those with memory, with a gap where addresses are left out
        std::size_t y = 0;
        std::uint64_t previous = UINT64_MAX;
        for (const auto& [number, cell] : cells_) {
            const std::uint64_t row = number / columns;
            if (!rows.contains(row)) {
                if (previous != UINT64_MAX && row != previous + 1) y += cell_height / 2;
                rows[row] = y;
                y += cell_height;
                previous = row;
            }
            paths[colour_of(cell)] += fmt::format("M{} {}h{}v{}h-{}z", number % columns * cell_width, rows[row],
                                                  cell_width, cell_height - 1, cell_width);
        }
        std::string text;
        for (const auto& [colour, path] : paths) text += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", colour, path);
        return fmt::format("<figure class=\"map\"><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"map-{}\">\n"
                           "<title id=\"map-{}\">The heap's memory by address: a square is {}, a row is {}.</title>\n"
                           "{}</svg></figure>\n",
                           columns * cell_width, std::max<std::size_t>(y, 1), saved_ms_, saved_ms_,
                           size_text(static_cast<double>(cell_bytes())),
                           size_text(static_cast<double>(cell_bytes() * columns)), text);
    }

private:
    void add(const format::page_run& run) {
        for (std::uint64_t page = run.address / format::page_bytes, left = run.pages; left != 0;) {
            const std::uint64_t part = std::min(left, pages_ - page % pages_);
            map_cell& cell = cells_[page / pages_];
            cell.resident += part;
            if (run.use == format::page_use::records) cell.records += part;
            cell.live_bytes += part * run.live_bytes;
            page += part;
            left -= part;
        }
    }
    [[nodiscard]] static std::string colour_of(const map_cell& cell) {
        if (cell.records * 2 > cell.resident) return "m0";
        if (cell.live_bytes == 0) return "m1";
        const double full =
            static_cast<double>(cell.live_bytes) / (double{format::page_bytes} * static_cast<double>(cell.resident));
        const auto most = std::max_element(cell.held.begin(), cell.held.end());
        constexpr double nearly_full = 0.9;
        if (*most > 0 && full < nearly_full) return fmt::format("t{}", most - cell.held.begin());
        return fmt::format("m{}", 2 + std::min(static_cast<int>(full * 4), 3));
    }

    std::uint64_t pages_;
    std::uint64_t saved_ms_;                  ///< names the picture in a page that has several
    std::map<std::uint64_t, map_cell> cells_; ///< by number
};

[[nodiscard]] std::string key_line(std::string_view colour, std::string_view text) {
    return fmt::format("<li><svg viewBox=\"0 0 9 9\" aria-hidden=\"true\"><rect class=\"{}\" width=\"9\" height=\"9\"/>"
                       "</svg>{}</li>\n",
                       colour, escaped(text));
}

[[nodiscard]] std::string key_of(const named_profile& profile, const pinned_memory& pinned) {
    std::string text = "<ul class=\"key\">\n";
    for (std::size_t index = 0; index < fillings.size(); ++index)
        text += key_line(fmt::format("m{}", index), fillings[index]);
    for (std::size_t rank = 0; rank < std::min(stacks_that_hold(pinned), max_coloured); ++rank) {
        const profile_stack& stack = profile.stacks[pinned.stacks[rank].stack];
        const std::vector<std::string> path = path_of(stack);
        text += key_line(fmt::format("t{}", rank),
                         fmt::format("has blocks of stack {}: {}", rank + 1, path.empty() ? "" : path.back()));
    }
    return text + "</ul>\n";
}

[[nodiscard]] std::string parts_table(const pinned_memory& pinned) {
    std::string rows;
    const auto row = [&](std::string_view name, double bytes, std::string_view note) {
        rows += fmt::format("<tr>{}{}{}</tr>\n", element("th", "scope=\"row\"", name),
                            element("td", "class=\"num\"", size_text(bytes)), element("td", "", note));
    };
    for (const memory_part& each : all_parts(pinned.parts, pinned.malloc_file))
        row(each.name, static_cast<double>(each.bytes), each.note);
    row("resident", static_cast<double>(pinned.parts.resident), "all of the process");
    std::string others;
    const std::size_t count = std::min(pinned.others.size(), max_rows);
    for (std::size_t index = 0; index < count; ++index) {
        others += fmt::format(
            "<tr>{}{}</tr>\n", element("th", "scope=\"row\"", pinned.others[index].name),
            element("td", "class=\"num\"", size_text(static_cast<double>(pinned.others[index].resident_bytes))));
    }
    return "<div class=\"scroll\"><table>\n<tbody>\n" + rows +
           "</tbody>\n</table></div>\n<h3>Not the heap's</h3>\n<div class=\"scroll\"><table>\n<tbody>\n" + others +
           "</tbody>\n</table></div>\n";
}

[[nodiscard]] std::string stacks_table(const named_profile& profile, const pinned_memory& pinned) {
    std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (const std::string_view each :
         {"held", "blocks", "their size", "given back when freed", "median age", "call stack"})
        text += element("th", "scope=\"col\"", each);
    text += "</tr></thead>\n<tbody>\n";
    const std::size_t holding = stacks_that_hold(pinned), count = std::min(holding, max_rows);
    for (std::size_t index = 0; index < count; ++index) {
        const pinning_stack& each = pinned.stacks[index];
        const profile_stack& stack = profile.stacks[each.stack];
        const std::string advice = advice_for(each, pinned);
        text += fmt::format("<tr>{}{}{}{}{}<td class=\"where\">{}{}{}</td></tr>\n",
                            element("td", "class=\"num\"", estimate_text(each.held)),
                            element("td", "class=\"num\"", fmt::format("{:.0f}", std::max(each.live.blocks, 0.0))),
                            element("td", "class=\"num\"", estimate_text(each.live)),
                            element("td", "class=\"num\"", estimate_text(each.alone)),
                            element("td", "class=\"num\"", age_text(stack.median_age_ms)), where_html(stack),
                            stack.tag.empty() ? std::string{} : element("div", "", "tag: " + stack.tag),
                            advice.empty() ? std::string{} : element("div", "", advice));
    }
    text += "</tbody>\n</table></div>\n";
    if (count < holding) text += element("p", "", fmt::format("… and {}.", count_text(holding - count, "more stack")));
    return text;
}

}

std::string heap_map_svg(const saved_profile& saved, const named_profile& profile,
                         const std::vector<std::string>& coloured) {
    return heap_map(saved, profile, coloured).svg();
}

std::vector<std::string> coloured_stacks_of(const named_profile& profile, const pinned_memory& pinned) {
    std::vector<std::string> found;
    for (std::size_t rank = 0; rank < std::min(stacks_that_hold(pinned), max_coloured); ++rank)
        found.push_back(text_of(profile.stacks[pinned.stacks[rank].stack]));
    return found;
}

namespace {

/// The parts over time, and the maps to choose from.
[[nodiscard]] std::string course_section(const memory_course& course) {
    std::string text =
        "<section class=\"closing\" id=\"course\">\n<h2>Over time</h2>\n" + course_figure(course, "course-chart");
    for (const memory_moment& each : course.moments) {
        if (each.map.empty()) continue;
        text += fmt::format("<details class=\"moment\">{}{}</details>\n",
                            element("summary", "",
                                    fmt::format("map after {}: {} resident, {} held", age_text(course.age_ms(each)),
                                                size_text(static_cast<double>(each.parts.resident)),
                                                size_text(static_cast<double>(each.parts.held)))),
                            each.map);
    }
    return text + "</section>\n";
}

}

std::string to_html(const saved_profile& saved, const named_profile& profile, const pinned_memory& pinned,
                    const memory_course& course) {
    const std::string title = fmt::format("Memory of {}", profile.program);
    std::string text = html_head(title, rules);
    text += fmt::format(
        "<header>\n{}\n{}{}</header>\n", element("h1", "", title), element("p", "", profile.command),
        element("p", "",
                fmt::format("Process {}: {} resident. Blocks in use keep {} of free memory from going back. {}",
                            profile.header.process, size_text(static_cast<double>(pinned.parts.resident)),
                            size_text(static_cast<double>(pinned.parts.held)),
                            !has_stacks(pinned) ? ""
                            : pinned.is_exact
                                ? "Every block since the profile began was recorded."
                                : "Whose blocks these are is estimated from a sample; ± is what 95 of 100 "
                                  "estimates are off by at most, by the chance of sampling.")));
    if (const malloc_words about = words_about(pinned); !about.what.empty()) {
        std::string words = about.what;
        for (const std::string& each : about.unknown) words += " " + each;
        text += element("p", "", words) + "\n";
    }
    if (course.is_shown()) text += course_section(course);
    text += "<section class=\"closing\" id=\"map\">\n<h2>The heap's memory, by address</h2>\n" +
            heap_map_svg(saved, profile, coloured_stacks_of(profile, pinned)) + key_of(profile, pinned) +
            "</section>\n";
    text +=
        "<section class=\"closing\" id=\"parts\">\n<h2>Resident memory</h2>\n" + parts_table(pinned) + "</section>\n";
    if (!has_stacks(pinned)) return text + "</div>\n</body>\n</html>\n";
    text += "<section class=\"closing\" id=\"stacks\">\n<h2>Who keeps it</h2>\n" + stacks_table(profile, pinned);
    return text + "</section>\n</div>\n</body>\n</html>\n";
}

}
