// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_style.hpp"

#include <array>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

/// A fill for bars: a colour for light and dark mode, and a pattern of lines drawn over it.
struct fill {
    std::string_view name, light, dark, lines;
    int size;
};

// No vertical lines: they would look like marks.
constexpr std::array<fill, 12> fills{{
    {"lock", "#b3261e", "#ff8a80", "M-1 1l2-2M0 6L6 0M5 7l2-2", 6},
    {"runtime", "#7a3fb0", "#c9a4ff", "M0 0l6 6M6 0L0 6", 6},
    {"heap", "#b85600", "#ffb066", "M1 1h1.6M3 3h1.6", 4},
    {"mapping", "#7a6200", "#e3cf57", "M0 2H4", 4},
    {"library", "#0b7285", "#5fd3e6", "M-1 5l2 2M0 0l6 6M5-1l2 2", 6},
    {"input", "#1f7a3a", "#7fd69a", "M1.5 1.5h3v3h-3z", 6},
    {"sleep", "#5a6673", "#9fb0c0", "M4 2h2", 8},
    {"running", "#3d7cc4", "#5b9be0", "", 4},
    {"faults", "#a81e63", "#ff8fc0", "M0 3l2-2l2 2", 4},
    {"queued", "#4d5661", "#b4bfca", "M0 1H8M0 5H8M4 1V5", 8},
    {"idle", "#e9edf1", "#2a313a", "", 4},
    {"unexplained", "#6b7580", "#8f9baa", "M2 2l3 3M5 2l-3 3", 8},
}};

constexpr std::string_view rules = R"css(
.over { stroke: var(--page); stroke-width: 1.2px; fill: none; opacity: .75; }
.stay { fill: var(--s2); }
.f-idle { stroke: var(--edge); stroke-dasharray: 3 2; }
.closer { fill: none; stroke: var(--ink); stroke-width: 1.5px; stroke-dasharray: 4 2; }
figure.timeline { overflow-x: auto; }
figure.timeline > svg { min-width: 46rem; }
.places th, .places td { padding: .3rem .5rem; }
.places tbody th { white-space: normal; min-width: 12.5rem; overflow-wrap: anywhere; }
#processes tbody th { white-space: normal; min-width: 11rem; overflow-wrap: anywhere; }
.places td.where { min-width: 14rem; overflow-wrap: anywhere; }
.places ol { margin: .3rem 0; padding-left: 1.6rem; font-size: .95em; }
.places li { margin: 0; }
.places li.blamed { font-weight: 600; }
summary { cursor: pointer; color: var(--ours); }
details > p { font-size: .95em; color: var(--soft); }
@media print { svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)css";

}

std::string watch_style() {
    std::string light, dark, classes;
    for (const fill& each : fills) {
        light += fmt::format(" --f-{}: {};", each.name, each.light);
        dark += fmt::format(" --f-{}: {};", each.name, each.dark);
        classes += fmt::format(".f-{0} {{ fill: url(#f-{0}); }} .t-{0} {{ fill: var(--f-{0}); }}\n", each.name);
    }
    // A printed page is light, whatever the screen's mode is.
    return fmt::format(":root {{{} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{} }} }}\n{}{}", light,
                       dark, classes, rules);
}

std::string watch_patterns() {
    std::string text = "<svg class=\"patterns\" aria-hidden=\"true\"><defs>\n";
    for (const fill& each : fills) {
        text +=
            fmt::format("<pattern id=\"f-{0}\" width=\"{1}\" height=\"{1}\" patternUnits=\"userSpaceOnUse\"><rect "
                        "width=\"{1}\" height=\"{1}\" class=\"t-{0}\"/><path d=\"{2}\" class=\"over\"/></pattern>\n",
                        each.name, each.size, each.lines);
    }
    return text + "</defs></svg>\n";
}

}
