// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/conclusion.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

std::size_t best_other(const table& from, std::size_t index) {
    const std::size_t peer = best_row(from, index, role::peer);
    const std::size_t baseline = best_row(from, index, role::baseline);
    if (peer == no_row || baseline == no_row) return peer == no_row ? baseline : peer;
    const double a = from.rows[peer].cells[index].value.median;
    const double b = from.rows[baseline].cells[index].value.median;
    return better_than(b, a, from.figures[index].sense) ? baseline : peer;
}

verdict judge(const table& from, std::size_t index) {
    verdict made{index,
                 best_row(from, index),
                 best_row(from, index, role::ours),
                 best_other(from, index),
                 best_row(from, index, role::reference),
                 summarize({})};
    if (made.ours == no_row || made.other == no_row) return made;
    const std::vector<double>& ours = from.rows[made.ours].cells[index].samples;
    const std::vector<double>& other = from.rows[made.other].cells[index].samples;
    const bool larger = from.figures[index].sense == better::larger;
    made.against = summarize(larger ? round_ratios(other, ours) : round_ratios(ours, other));
    if (made.against.count == 0) return made;
    const bool overlaps = made.against.low <= 1.0 && made.against.high >= 1.0;
    // Less than 1 % is no lead, however steady it is.
    if (overlaps || std::abs(made.against.median - 1.0) < 0.01) {
        made.stands = standing::level;
    } else {
        made.stands = made.against.median < 1.0 ? standing::leads : standing::trails;
    }
    return made;
}

std::size_t count_of(const std::vector<verdict>& verdicts, standing stands) {
    return static_cast<std::size_t>(
        std::count_if(verdicts.begin(), verdicts.end(), [stands](const verdict& one) { return one.stands == stands; }));
}

/// From the clearest lead to the clearest trail; what does not stand against anyone lies between.
double place_of(const verdict& one) {
    return one.stands == standing::leads || one.stands == standing::trails ? one.against.median : 1.0;
}

/// "Ours lead in 9 of 14 figures, are level in 3 and trail in 2." and where they do so most.
std::string sentence_of_ours(const table& from, const std::vector<verdict>& verdicts) {
    const std::size_t leads = count_of(verdicts, standing::leads);
    const std::size_t level = count_of(verdicts, standing::level);
    const std::size_t trails = count_of(verdicts, standing::trails);
    const std::size_t judged = leads + level + trails;
    if (judged == 0) return {};
    std::string words = fmt::format("Against the best of the others, the best of ours leads in {} of {}", leads,
                                    count_text(judged, "figure"));
    if (level != 0) words += fmt::format("{} is level in {}", trails == 0 ? " and" : ",", level);
    if (trails != 0) words += fmt::format(" and trails in {}", trails);
    words += '.';
    const auto [first, last] = std::minmax_element(
        verdicts.begin(), verdicts.end(), [](const verdict& a, const verdict& b) { return place_of(a) < place_of(b); });
    const auto add = [&](std::string_view verb, const verdict& one) {
        words += fmt::format(" It {} most at {}: {} of {}.", verb, figure_name(from.figures[one.figure_index]),
                             ratio_text(one.against.median), from.rows[one.other].who->name);
    };
    if (first->stands == standing::leads) add("leads", *first);
    if (last->stands == standing::trails) add("trails", *last);
    return words;
}

/// Who is the best choice most often.
std::string sentence_of_best(const table& from, const std::vector<verdict>& verdicts) {
    std::map<std::size_t, std::size_t> wins;
    std::size_t contested = 0;
    for (const verdict& one : verdicts) {
        if (one.best == no_row) continue;
        for (std::size_t row = 0; row < from.rows.size(); ++row) {
            if (ties_with_best(from, one.figure_index, row, one.best)) ++wins[row];
        }
        ++contested;
    }
    const auto most =
        std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == wins.end()) return {};
    std::vector<std::string_view> names;
    for (const auto& [row, count] : wins) {
        if (count == most->second) names.push_back(from.rows[row].who->name);
    }
    return fmt::format("Most often the best choice: {}, {}in {} of {}.", fmt::join(names, " and "),
                       names.size() > 1 ? "each " : "", most->second, count_text(contested, "figure"));
}

std::string sentence_of_absent(const experiment_result& found, const layout& laid) {
    std::string words;
    const auto add = [&words](const contestant_result& who, std::string_view what) {
        words += fmt::format("{} {} ({})", words.empty() ? "Not measured:" : ",", who.name, what);
    };
    for (const contestant_result* who : laid.absent) {
        add(*who, who->state == outcome::failed ? "failed" : "missing");
    }
    for (const contestant_result& who : found.contestants) {
        if (who.state == outcome::measured && !who.left_out.empty()) {
            add(who, "left out of " + count_text(who.left_out.size(), "part"));
        }
    }
    return words.empty() ? words : words + ".";
}

}

std::vector<verdict> verdicts_of(const table& whole) {
    std::vector<verdict> verdicts;
    for (std::size_t index = 0; index < whole.figures.size(); ++index) verdicts.push_back(judge(whole, index));
    return verdicts;
}

std::vector<std::string> conclusions(const experiment_result& found, const layout& laid) {
    const table& whole = laid.whole;
    std::vector<std::string> sentences;
    const auto add = [&sentences](std::string words) {
        if (!words.empty()) sentences.push_back(std::move(words));
    };
    if (whole.figures.empty() || whole.rows.empty()) {
        if (laid.told.empty()) return {"Nothing was measured."};
        add("There is nothing to compare.");
    } else {
        const std::vector<verdict> verdicts = verdicts_of(whole);
        add(sentence_of_best(whole, verdicts));
        add(sentence_of_ours(whole, verdicts));
    }
    add(sentence_of_absent(found, laid));
    if (sentences.empty()) add("There is nothing to compare.");
    return sentences;
}

std::string doubt_of(const experiment_result& found) {
    if (found.rounds == 0 || found.rounds >= fewest_spread_rounds) return {};
    return fmt::format("{} {} little: there is no spread, and differences may be chance.",
                       count_text(found.rounds, "round"), found.rounds == 1 ? "says" : "say");
}

}
