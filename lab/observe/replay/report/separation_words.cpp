// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/separation_words.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/letters.hpp"

namespace tenure::lab {

namespace {

bool is_letter_or_digit(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
}

/// The function of a frame in the letters that a class name may have.
std::string short_name(std::string_view frame) {
    frame = frame.substr(
        0, std::min({frame.find(" at "), frame.find(" in "), frame.find('('), frame.find('<'), frame.find(", in ")}));
    if (frame.find("0x") != std::string_view::npos) return {}; // an address: no name is known
    std::string made;
    for (const char each : frame) {
        if (is_letter_or_digit(each))
            made += each;
        else if (!made.empty() && made.back() != '-')
            made += '-';
    }
    // The end of a long name says more: "Assimp-ObjFileParser-getFace".
    constexpr std::size_t room = max_class_name - 2; // for a number
    if (made.size() > room) made = made.substr(made.size() - room);
    while (made.ends_with('-')) made.pop_back();
    made.erase(0, std::min(made.find_first_not_of('-'), made.size()));
    return made;
}

}

void name_classes(separation_report& of, const place_names& names) {
    std::set<std::string> taken;
    for (advice_class& each : of.advised.classes) {
        const separated_site* largest = nullptr;
        for (const separated_site& site : of.sites)
            if (site.number == each.number && (largest == nullptr || site.sum.held > largest->sum.held))
                largest = &site;
        std::string name;
        if (largest != nullptr) {
            // The outermost frame that decides is what this site has and others of the same function have not.
            const std::vector<std::string> frames = names(largest->stack);
            for (std::size_t i = std::min(largest->frames, frames.size()); i-- > 0 && name.empty();)
                name = short_name(frames[i]);
        }
        if (name.empty()) name = "class";
        if (name == "class" || taken.contains(name)) name += fmt::format(" {}", each.number);
        taken.insert(name);
        each.name = name;
    }
}

std::vector<std::string> frames_in_words(const separated_site& site, const place_names& names) {
    std::vector<std::string> shown;
    if (site.stack == 0) return shown;
    const std::vector<std::string> frames = names(site.stack);
    for (std::size_t i = 0; i < std::min(site.frames, frames.size()); ++i)
        if (!frames[i].empty()) shown.push_back(frames[i]);
    return shown;
}

std::string change_in_words(double before, double after) {
    if (before <= 0) return {};
    return fmt::format("{:+.1f} %", (after / before - 1) * 100);
}

std::vector<std::string> notes_in_words(const separation_report& of) {
    std::vector<std::string> made;
    if (!of.advised.sites.empty() && of.checked.empty())
        made.emplace_back("Not checked on another run: record one with other input, and name it with --check.");
    if (!of.origin.empty())
        made.emplace_back("The figures of the trace that chose the advice flatter it; those of another run do not.");
    made.push_back(fmt::format(
        "Figures are medians of {} replays on Tenure's heap, each in a process of its own, at 100 places of the trace. "
        "Peak and mean are of a heap that returns no memory to the system. After trim(), only pages with blocks in use "
        "are left. The heap returns free pages after the purge delay (1 s), so a program that runs for much longer is "
        "nearer to the mean after trim(), and a short one to the mean. With a purge delay far below that the peak can "
        "rise, because free pages of several classes wait for it.",
        shown_repeats));
    made.emplace_back(
        "A replay cannot know when memory returns to the system between the program's calls, what its threads do at "
        "the same time (one thread makes all calls), what its caches gain or lose, and whether the next run is like "
        "this one.");
    return made;
}

std::string remark_for(const separation_report& of, std::string_view program) {
    std::string text = fmt::format("Learned from {}.\n", printable(program));
    if (of.advised.sites.empty()) return text + of.refusal + "\n";
    // Of several checks the one that gains least.
    const auto gain = [](const checked_run& each) {
        return 1 - each.figures.after.trimmed / std::max(each.figures.before.trimmed, 1.0);
    };
    const auto worst = std::min_element(of.checked.begin(), of.checked.end(),
                                        [&](const checked_run& a, const checked_run& b) { return gain(a) < gain(b); });
    const separation_figures& shown = worst == of.checked.end() ? of.learned : worst->figures;
    const std::string whose = worst == of.checked.end()
                                  ? fmt::format("best of {} candidates on this trace", of.candidates)
                                  : fmt::format("checked on {}", printable(worst->name));
    text += fmt::format("Mean resident memory after trim(): {} to {}; peak {} to {} ({}).\n",
                        bytes_in_words(shown.before.trimmed), bytes_in_words(shown.after.trimmed),
                        bytes_in_words(shown.before.peak), bytes_in_words(shown.after.peak), whose);
    return text + "Use: tenure run --advice FILE -- PROGRAM\n";
}

}
