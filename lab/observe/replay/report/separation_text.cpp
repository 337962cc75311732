// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/separation_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/letters.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t max_sites = 5; ///< of a class that are shown

std::string paragraph(const std::string& text, std::size_t columns, std::size_t indent) {
    return std::string(indent, ' ') + wrapped(text, columns - indent, indent + 2) + "\n";
}

std::string sum_in_words(const site_figures& sum, std::uint64_t all_calls) {
    const double percent =
        100.0 * static_cast<double>(sum.calls) / static_cast<double>(std::max<std::uint64_t>(all_calls, 1));
    const std::string share = percent > 0 && percent < 0.1 ? std::string("< 0.1 %") : fmt::format("{:.1f} %", percent);
    return fmt::format("{} calls ({}), {} in all, {} held on average", sum.calls, share,
                       bytes_in_words(static_cast<double>(sum.bytes)), bytes_in_words(sum.held));
}

std::string class_of(const separation_report& found, const advice_class& one, const place_names& names,
                     text_style style) {
    std::vector<const separated_site*> sites;
    site_figures sum;
    for (const separated_site& each : found.sites) {
        if (each.number != one.number) continue;
        sites.push_back(&each);
        sum += each.sum;
    }
    std::stable_sort(sites.begin(), sites.end(),
                     [](const separated_site* a, const separated_site* b) { return a->sum.held > b->sum.held; });
    std::string text = painted(fmt::format("class {}: {}", one.number, one.name), tint::strong, style.colours) + "\n";
    text += paragraph(
        fmt::format("{}; {} site{}", sum_in_words(sum, found.calls), sites.size(), sites.size() == 1 ? "" : "s"),
        style.width, 2);
    for (std::size_t i = 0; i < std::min(sites.size(), max_sites); ++i) {
        std::string frames;
        for (const std::string& each : frames_in_words(*sites[i], names))
            frames += (frames.empty() ? "" : ", called by ") + each;
        text += paragraph(fmt::format("{}: {}", bytes_in_words(sites[i]->sum.held), frames), style.width, 4);
    }
    if (sites.size() > max_sites)
        text += paragraph(fmt::format("and {} more, which hold less", sites.size() - max_sites), style.width, 4);
    return text;
}

/// `shows_after`: there is advice, or there was.
std::string table_of(const separation_figures& of, bool shows_after, text_style style) {
    text_grid grid;
    std::vector<std::string> titles{"resident memory", "without"};
    if (shows_after) titles.insert(titles.end(), {"with", ""});
    grid.head(std::move(titles));
    const auto row = [&](std::string name, double before, double after) {
        std::vector<grid_cell> cells{{std::move(name)}, {bytes_in_words(before)}};
        if (shows_after) cells.insert(cells.end(), {{bytes_in_words(after)}, {change_in_words(before, after)}});
        grid.add(std::move(cells));
    };
    row("peak", of.before.peak, of.after.peak);
    row("mean", of.before.mean, of.after.mean);
    row("mean after trim()", of.before.trimmed, of.after.trimmed);
    row("peak after trim()", of.before.trimmed_peak, of.after.trimmed_peak);
    std::vector<grid_cell> live{{"live bytes, mean"}, {bytes_in_words(of.mean_live)}};
    if (shows_after) live.resize(4);
    grid.add(std::move(live));
    return grid.str(style.colours);
}

}

std::string to_text(const separation_report& found, const place_names& names, text_style style) {
    std::string text;
    if (!found.damage.empty()) text += paragraph("The trace is damaged: " + found.damage, style.width, 0) + "\n";
    if (found.advised.sites.empty()) {
        text += paragraph(found.refusal, style.width, 0) + "\n";
    } else {
        text += paragraph(fmt::format("{} of {} calls get pages of their own, in {} class{} derived from {}.",
                                      found.separated_calls, found.calls, found.advised.classes.size(),
                                      found.advised.classes.size() == 1 ? "" : "es", found.origin),
                          style.width, 0);
        text += "\n";
        for (const advice_class& each : found.advised.classes) text += class_of(found, each, names, style) + "\n";
    }
    if (!found.origin.empty())
        text += paragraph(fmt::format("Learned from (best of {} candidates, chosen on this trace):", found.candidates),
                          style.width, 0);
    const bool shows_after = !found.advised.sites.empty() || !found.checked.empty();
    text += table_of(found.learned, shows_after, style) + "\n";
    for (const checked_run& each : found.checked) {
        text += paragraph(fmt::format("Checked on another run, {}:", printable(each.name)), style.width, 0);
        if (!each.damage.empty()) text += paragraph("This trace is damaged: " + each.damage, style.width, 0);
        text += table_of(each.figures, shows_after, style) + "\n";
    }
    for (const std::string& each : notes_in_words(found)) text += paragraph(each, style.width, 0);
    return text;
}

}
