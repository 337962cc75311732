// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/report/profile_html.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "observe/profile/report/profile_text.hpp"
#include "report/html/html_style.hpp"
#include "report/html/html_words.hpp"
#include "report/letters.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

// Whatever the data contains, the page can load nothing and run nothing.
constexpr std::string_view policy = "default-src 'none'; style-src 'unsafe-inline'";

constexpr std::string_view rules = R"css(
figure.flame { overflow-x: auto; margin: .6rem 0; }
figure.flame > svg { min-width: 46rem; width: 100%; }
.flame rect { stroke: var(--page); stroke-width: .6px; }
.flame text { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1a1d21; }
.h0 { fill: #f6b26b; } .h1 { fill: #f9cb9c; } .h2 { fill: #ffd966; } .h3 { fill: #f4a582; } .h4 { fill: #fddbc7; }
.flame .root { fill: var(--s3); } .flame .root + text { fill: var(--ink); }
td.where { min-width: 20rem; overflow-wrap: anywhere; }
td.where div { padding-left: 1rem; text-indent: -1rem; }
td.where small { color: var(--soft); }
@media print { svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)css";

constexpr double width = 1200, row_height = 17, letter_width = 6.7;
constexpr double least_share = 0.001;
constexpr std::size_t max_rows = 200, max_depth = 120;

/// A function in the tree of stacks.
struct flame_node {
    double bytes = 0;
    std::map<std::string, flame_node> below;
};

[[nodiscard]] flame_node tree_of(const named_profile& profile, profile_value value) {
    flame_node root;
    for (const profile_stack& stack : profile.stacks) {
        const double bytes = std::max((stack.*value).bytes, 0.0);
        if (bytes == 0) continue;
        root.bytes += bytes;
        flame_node* at = &root;
        for (const std::string& each : path_of(stack)) {
            at = &at->below[each];
            at->bytes += bytes;
        }
    }
    return root;
}

[[nodiscard]] std::size_t depth_of(const flame_node& node, double least) {
    std::size_t deepest = 0;
    for (const auto& [name, below] : node.below) {
        if (below.bytes >= least) deepest = std::max(deepest, depth_of(below, least));
    }
    return std::min(deepest + 1, max_depth);
}

class flame_painter {
public:
    flame_painter(const flame_node& root) : root_(root) {}

    void paint(const std::string& name, const flame_node& node, double x, std::size_t depth) {
        const double wide = node.bytes / root_.bytes * width;
        const double y = static_cast<double>(depth) * row_height;
        const std::string about =
            fmt::format("{}: {}, {:.1f} %", name, size_text(node.bytes), 100 * node.bytes / root_.bytes);
        const std::string css = depth == 0 ? std::string{"root"} : fmt::format("h{}", hue_of(name));
        text_ += fmt::format("<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" "
                             "class=\"{}\"/>",
                             escaped(about), x, y, wide, row_height, css);
        const auto letters = static_cast<std::size_t>(std::max(wide - 6, 0.0) / letter_width);
        if (letters >= 3) {
            text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 3, y + 12,
                                 escaped(clipped(name, letters)));
        }
        text_ += "</g>\n";
        if (depth + 1 >= max_depth) return;
        // The widest first: the eye begins at the left.
        std::vector<std::pair<const std::string*, const flame_node*>> order;
        for (const auto& [each, below] : node.below) {
            if (below.bytes >= least_share * root_.bytes) order.emplace_back(&each, &below);
        }
        std::stable_sort(order.begin(), order.end(),
                         [](const auto& a, const auto& b) { return a.second->bytes > b.second->bytes; });
        for (const auto& [each, below] : order) {
            paint(*each, *below, x, depth + 1);
            x += below->bytes / root_.bytes * width;
        }
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    [[nodiscard]] static unsigned hue_of(std::string_view name) {
        constexpr unsigned hues = 5;
        std::uint32_t hash = 2166136261U;
        for (const char each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
        return hash % hues;
    }
    const flame_node& root_;
    std::string text_;
};

[[nodiscard]] std::string stacks_table(const named_profile& profile) {
    std::string rows;
    const std::size_t count = std::min(profile.stacks.size(), max_rows);
    for (std::size_t index = 0; index < count; ++index) {
        const profile_stack& each = profile.stacks[index];
        rows += fmt::format(
            "<tr>{}{}{}{}{}<td class=\"where\">{}</td></tr>\n",
            element("td", "class=\"num\"", estimate_text(each.live)),
            element("td", "class=\"num\"", fmt::format("{:.0f}", std::max(each.live.blocks, 0.0))),
            element("td", "class=\"num\"", estimate_text(each.at_peak)),
            element("td", "class=\"num\"", estimate_text(each.allocated)),
            element("td", "class=\"num\"", each.live.samples == 0 ? std::string{"–"} : age_text(each.median_age_ms)),
            where_html(each) + (each.tag.empty() ? std::string{} : element("div", "", "tag: " + each.tag)));
    }
    std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (const std::string_view each : {"live", "live blocks", "at the peak", "allocated", "median age", "call stack"})
        text += element("th", "scope=\"col\"", each);
    text += "</tr></thead>\n<tbody>\n" + rows + "</tbody>\n</table></div>\n";
    if (count < profile.stacks.size())
        text += element("p", "", fmt::format("… and {}.", count_text(profile.stacks.size() - count, "more stack")));
    return text;
}

[[nodiscard]] std::string groups_table(std::string_view title, const std::vector<profile_group>& groups) {
    std::string rows;
    for (const profile_group& each : groups) {
        rows += fmt::format("<tr>{}{}</tr>\n", element("th", "scope=\"row\"", each.name),
                            element("td", "class=\"num\"", estimate_text(each.live)));
    }
    return fmt::format("<h3>Live, by {}</h3>\n<div class=\"scroll\"><table>\n<tbody>\n{}</tbody>\n</table></div>\n",
                       escaped(title), rows);
}

}

std::string html_head(const std::string& title, std::string_view rules_of_page) {
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<div class=\"page\">\n",
                       policy, escaped(title), html_style(), rules_of_page);
}

std::string where_html(const profile_stack& stack) {
    std::string text;
    for (const profile_frame& frame : stack.frames) {
        for (const named_frame& each : frame.functions) {
            const std::string place = shown_place(each);
            text += fmt::format("<div>{}{}</div>", escaped(shown(each)),
                                place.empty() ? std::string{} : fmt::format(" <small>{}</small>", escaped(place)));
        }
    }
    return text;
}

std::string flame_svg(const named_profile& profile, profile_value value, const std::string& id) {
    const flame_node root = tree_of(profile, value);
    if (root.bytes <= 0) return element("p", "", fmt::format("Nothing {} was sampled.", word_of(value)));
    const std::size_t depth = depth_of(root, least_share * root.bytes);
    flame_painter painter(root);
    painter.paint(fmt::format("{}: {}", profile.program, size_text(root.bytes)), root, 0, 0);
    return fmt::format(
        "<figure class=\"flame\"><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}-t\">\n"
        "<title id=\"{}-t\">Bytes {}, by call stack: the caller is above, the width is the share.</title>\n"
        "{}</svg></figure>\n",
        width, static_cast<double>(depth + 1) * row_height, escaped(id), escaped(id), word_of(value), painter.text());
}

std::string to_html(const named_profile& profile) {
    profile_choice choice;
    choice.stacks = 0;
    const std::string title = fmt::format("Heap profile of {}", profile.program);
    std::string text = html_head(title, rules);
    const auto& header = profile.header;
    text += fmt::format(
        "<header>\n{}\n{}{}</header>\n", element("h1", "", title), element("p", "", profile.command),
        element("p", "",
                fmt::format("Process {}, over {}. One allocated byte in {} was sampled. Live: {}. At the peak: {}. "
                            "Allocated: {}. ± is what 95 of 100 estimates are off by at most, by the chance of "
                            "sampling.{}",
                            header.process, age_text(header.saved_ms - std::min(header.saved_ms, header.started_ms)),
                            size_text(static_cast<double>(header.mean_bytes)), estimate_text(profile.live),
                            estimate_text(profile.at_peak), estimate_text(profile.allocated),
                            profile.is_calibrated ? " What is live is corrected by the heap's own counts." : "")));
    for (const std::string& each : profile.changed_files) {
        text +=
            element("p", "", printable(each) + " is another build than the one that ran: its functions are not named.");
    }
    text += "<section class=\"closing\" id=\"live\">\n<h2>Live</h2>\n" + flame_svg(profile, &profile_stack::live, "l") +
            "</section>\n";
    text += "<section class=\"closing\" id=\"peak\">\n<h2>Live at the peak</h2>\n" +
            flame_svg(profile, &profile_stack::at_peak, "p") + "</section>\n";
    text += "<section class=\"closing\" id=\"allocated\">\n<h2>Allocated</h2>\n" +
            flame_svg(profile, &profile_stack::allocated, "a") + "</section>\n";
    text += "<section class=\"closing\" id=\"stacks\">\n<h2>Call stacks</h2>\n" + stacks_table(profile);
    if (profile.tags.size() > 1) text += groups_table("owner tag", profile.tags);
    if (profile.threads.size() > 1) text += groups_table("allocating thread", profile.threads);
    return text + "</section>\n</div>\n</body>\n</html>\n";
}

}
