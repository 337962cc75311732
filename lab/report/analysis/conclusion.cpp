// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/conclusion.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "report/analysis/figure_rounds.hpp"
#include "report/analysis/signed_rank.hpp"
#include "report/numbers.hpp"
#include "report/result/primary.hpp"

namespace tenure::lab {

namespace {

std::size_t count_of(const std::vector<verdict>& verdicts, standing stands) {
    return static_cast<std::size_t>(
        std::count_if(verdicts.begin(), verdicts.end(), [stands](const verdict& one) { return one.stands == stands; }));
}

/// Sort key from the clearest lead to the clearest trail, with level figures between. A change from or to 0 is the
/// clearest.
double place_of(const verdict& one) {
    const bool apart = one.stands == standing::leads || one.stands == standing::trails;
    if (!apart) return 1.0;
    if (one.against.count != 0) return one.against.median;
    return one.stands == standing::leads ? 0.0 : std::numeric_limits<double>::infinity();
}

/// "Ours lead in 9 of 14 figures, are level in 3 and trail in 2.", followed by the largest lead and the largest trail.
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
        const auto median = [&](std::size_t row) { return from.rows[row].cells[one.figure_index].value.median; };
        words += fmt::format(" It {} most at {}: {} against {}.", verb, figure_name(from.figures[one.figure_index]),
                             distance_text(one.against, median(one.ours), median(one.other)),
                             from.rows[one.other].who->name);
    };
    if (place_of(*first) < 1.0) add("leads", *first);
    if (place_of(*last) > 1.0) add("trails", *last);
    return words;
}

/// Names the contestant that is the best choice most often.
std::string sentence_of_best(const table& from, const std::vector<verdict>& verdicts) {
    std::map<std::size_t, std::size_t> wins;
    std::size_t contested = 0;
    for (const verdict& one : verdicts) {
        if (one.best.empty()) continue;
        for (const std::size_t row : one.best) ++wins[row];
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

/// The declared primary figures that cannot be shown, because their part did not run or their contestant is missing.
std::string sentence_of_primary(const experiment_result& found) {
    std::string words;
    for (const figure_pattern& one : unmatched_primary(found)) {
        words += words.empty() ? "Primary figures that were not measured: " : "; ";
        words +=
            one.variant.empty() || one.variant == "*" ? one.metric : fmt::format("{}, {}", one.metric, one.variant);
    }
    return words.empty() ? words : words + ".";
}

/// Older results, from before the harness rejected them, have figures that cannot be told apart.
std::string sentence_of_ambiguous(const experiment_result& found) {
    std::size_t most = 0;
    for (const contestant_result& who : found.contestants) most = std::max(most, ambiguous_figures(who));
    if (most == 0) return {};
    return fmt::format("Ambiguous: {} of a contestant appear twice under one name; only the first is shown.",
                       count_text(most, "figure"));
}

}

std::string_view word_of(standing stands) {
    switch (stands) {
    case standing::leads: return "leads";
    case standing::level: return "level";
    case standing::trails: return "trails";
    case standing::none: break;
    }
    return "–";
}

std::vector<verdict> verdicts_of(const table& whole) {
    std::vector<verdict> verdicts;
    for (std::size_t index = 0; index < whole.figures.size(); ++index) verdicts.push_back(verdict_of(whole, index));
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
    add(sentence_of_primary(found));
    add(sentence_of_ambiguous(found));
    if (sentences.empty()) add("There is nothing to compare.");
    return sentences;
}

std::string distance_text(const summary& ratio, double ours_median, double other_median) {
    if (ratio.count != 0) return ratio_text(ratio.median);
    if (other_median == 0.0 && ours_median > 0.0) return "from 0";
    return ours_median == 0.0 && other_median > 0.0 ? "to 0" : ratio_text(ratio.median);
}

std::string doubt_of(const experiment_result& found) {
    if (found.rounds == 0) return {};
    if (found.rounds < min_judged_rounds) {
        return fmt::format("{} {} little: differences may be chance, and no best choice is named with fewer than {}.",
                           count_text(found.rounds, "round"), found.rounds == 1 ? "says" : "say", min_judged_rounds);
    }
    std::vector<figure_rounds> few = other_rounds(found, which_figures::compared);
    std::erase_if(few, [](const figure_rounds& one) { return one.rounds >= min_judged_rounds; });
    if (few.empty()) return {};
    return fmt::format("Too few rounds to name a best choice: {}.", other_rounds_text(few));
}

}
