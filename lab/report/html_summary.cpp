// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html_section.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "report/html_words.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

/// Figures whose best choices still make a short summary.
constexpr std::size_t most_in_summary = 8;

enum class standing : std::uint8_t { none, leads, level, trails };

/// One figure: who is best, and how the best of ours stands to the best of the others.
struct verdict {
    std::size_t figure_index;
    std::size_t best, ours, other, limit; ///< rows, no_row where there is none
    summary against;                      ///< ours to other by round; below 1 is better whatever the figure's sense
    standing stands = standing::none;
};

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
        ++wins[one.best];
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

std::string value_cells(const table& from, std::size_t row, std::size_t index) {
    if (row == no_row) return "<td class=\"none\">–</td><td class=\"num none\">–</td>";
    return element("td", "", from.rows[row].who->name) +
           element("td", "class=\"num\"", value_text(from.rows[row].cells[index].value.median));
}

std::string limit_cell(const table& from, std::size_t row, std::size_t index) {
    if (row == no_row) return "<td class=\"num none\">–</td>";
    return element("td", fmt::format("class=\"num\" title=\"{}\"", escaped(from.rows[row].who->name)),
                   value_text(from.rows[row].cells[index].value.median));
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

std::string line(const table& from, const verdict& one, bool ours, bool limit) {
    const figure& shown = from.figures[one.figure_index];
    std::string words = fmt::format("<tr><th scope=\"row\">{} <span class=\"unit\">{}</span></th>",
                                    escaped(figure_name(shown)), escaped(shown.unit));
    words += value_cells(from, one.other, one.figure_index);
    if (ours) {
        words += value_cells(from, one.ours, one.figure_index);
        words += fmt::format("<td class=\"num\">{}</td><td class=\"{}\">{}</td>", ratio_text(one.against.median),
                             word_of(one.stands), word_of(one.stands));
    }
    if (limit) words += limit_cell(from, one.limit, one.figure_index);
    return words + "</tr>\n";
}

std::string head(bool ours, bool limit) {
    std::vector<std::string_view> titles{"figure", ours ? "best of the others" : "best choice", "#median"};
    if (ours) titles.insert(titles.end(), {"best of ours", "#median", "#ours / other", "ours"});
    if (limit) titles.push_back("#limit");
    return html_head(titles);
}

std::string sentence_of_absent(const section& in) {
    std::string words;
    const auto add = [&words](const contestant_result& who, std::string_view what) {
        words += fmt::format("{} {} ({})", words.empty() ? "Not measured:" : ",", who.name, what);
    };
    for (const contestant_result* who : in.laid.absent) {
        add(*who, who->state == outcome::failed ? "failed" : "missing");
    }
    for (const contestant_result& who : in.found.contestants) {
        if (who.state == outcome::measured && !who.left_out.empty()) {
            add(who, "left out of " + count_text(who.left_out.size(), "part"));
        }
    }
    return words.empty() ? words : words + ".";
}

std::vector<verdict> verdicts_of(const table& whole) {
    std::vector<verdict> verdicts;
    for (std::size_t index = 0; index < whole.figures.size(); ++index) verdicts.push_back(judge(whole, index));
    return verdicts;
}

std::string choices_table(const section& in, const std::vector<verdict>& verdicts) {
    const auto any = [&](std::size_t verdict::*row) {
        return std::any_of(verdicts.begin(), verdicts.end(), [row](const verdict& one) { return one.*row != no_row; });
    };
    const bool ours = any(&verdict::ours);
    const bool limit = any(&verdict::limit);
    std::string body = head(ours, limit);
    for (const verdict& one : verdicts) body += line(in.laid.whole, one, ours, limit);
    std::string caption = "The best choices, by median.";
    if (ours) caption += " Level: the rounds disagree about who is ahead, or it is by less than 1\u00a0%.";
    if (limit) caption += " Limit: the best of the references, which show what is possible and are no choices.";
    return html_table(in, caption, body + "</tbody>", "choices");
}

}

std::string html_summary(const section& in) {
    const table& whole = in.laid.whole;
    if (whole.figures.empty() || whole.rows.empty()) return "<p>Nothing was measured.</p>\n";
    const std::vector<verdict> verdicts = verdicts_of(whole);
    std::string text = "<div class=\"summary\">\n";
    for (const std::string& words :
         {sentence_of_best(whole, verdicts), sentence_of_ours(whole, verdicts), sentence_of_absent(in)}) {
        if (!words.empty()) text += element("p", "", words) + "\n";
    }
    if (verdicts.size() <= most_in_summary) text += choices_table(in, verdicts);
    return text + "</div>\n";
}

std::string html_choices(const section& in) {
    const std::vector<verdict> verdicts = verdicts_of(in.laid.whole);
    return verdicts.size() <= most_in_summary ? std::string() : choices_table(in, verdicts);
}

}
