// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/judge.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/analysis/signed_rank.hpp"

namespace tenure::lab {

namespace {

/// A smaller difference is not a lead, however steady it is. The limit is a factor in either direction.
constexpr double min_lead = 1.02;

/// Left divided by right for the rounds in which both are above zero.
std::vector<double> finite_ratios(const std::vector<double>& left, const std::vector<double>& right) {
    std::vector<double> ratios = round_ratios(left, right);
    std::erase_if(ratios, [](double ratio) { return !(ratio > 0.0) || std::isinf(ratio); });
    return ratios;
}

/// Differences of the rounds that both have; above zero where `left` is larger.
std::vector<double> round_differences(const std::vector<double>& left, const std::vector<double>& right) {
    std::vector<double> differences;
    for (std::size_t round = 0; round < std::min(left.size(), right.size()); ++round) {
        const double difference = left[round] == right[round] ? 0.0 : left[round] - right[round];
        if (!std::isnan(difference)) differences.push_back(difference);
    }
    return differences;
}

/// Logarithms of the ratios of the rounds that both have; infinite where one of the two is zero.
std::vector<double> round_logarithms(const std::vector<double>& left, const std::vector<double>& right) {
    std::vector<double> logarithms;
    for (std::size_t round = 0; round < std::min(left.size(), right.size()); ++round) {
        const double one = left[round] == right[round] ? 0.0 : std::log(left[round]) - std::log(right[round]);
        if (!std::isnan(one)) logarithms.push_back(one);
    }
    return logarithms;
}

/// The median must be on the same side too: few large differences can outrank many small ones.
standing standing_of(side found, double median, double even, bool is_far) {
    if (!is_far) return standing::level;
    if (found == side::below && median < even) return standing::leads;
    return found == side::above && median > even ? standing::trails : standing::level;
}

bool has_enough(const cell& one) { return one.value.count >= min_judged_rounds; }

bool is_better(const match& one) {
    if (one.ratio.count != 0) return one.ratio.median < 1.0;
    return one.stands == standing::leads;
}

/// Rows that no other row leads. Four or more rows can lead each other in a circle; then there is none.
std::vector<std::size_t> unbeaten(const table& from, std::size_t index, const std::vector<std::size_t>& among) {
    std::vector<std::size_t> left;
    std::copy_if(among.begin(), among.end(), std::back_inserter(left), [&](std::size_t row) {
        return std::none_of(among.begin(), among.end(), [&](std::size_t other) {
            return other != row && match_of(from, index, other, row).stands == standing::leads;
        });
    });
    return left;
}

/// The row of a contestant that a summary names; no_row for an empty name.
std::size_t row_index(const table& from, std::string_view name) {
    const auto place =
        std::find_if(from.rows.begin(), from.rows.end(), [&](const table_row& row) { return row.who->name == name; });
    return name.empty() || place == from.rows.end() ? no_row : static_cast<std::size_t>(place - from.rows.begin());
}

std::vector<std::size_t> rows_named(const table& from, const std::vector<std::string>& names) {
    std::vector<std::size_t> rows;
    for (const std::string& name : names) {
        if (const std::size_t row = row_index(from, name); row != no_row) rows.push_back(row);
    }
    return rows;
}

verdict summarized_verdict(const table& from, std::size_t index, const judged_figure& judged) {
    verdict made{index, rows_named(from, judged.best), row_index(from, judged.ours), row_index(from, judged.other),
                 row_index(from, judged.reference)};
    if (made.ours == no_row || made.other == no_row) return made;
    made.against = judged.against;
    made.stands = judged.stands;
    return made;
}

}

verdict verdict_of(const table& from, std::size_t index) {
    if (const judged_figure* judged = from.figures[index].judged) return summarized_verdict(from, index, *judged);
    std::vector<std::size_t> others = rows_of(from, index, role::peer);
    const std::vector<std::size_t> baseline = rows_of(from, index, role::baseline);
    others.insert(others.end(), baseline.begin(), baseline.end());
    verdict made{index, best_choices(from, index), best_of(from, index, rows_of(from, index, role::ours)),
                 best_of(from, index, others), best_of(from, index, rows_of(from, index, role::reference))};
    if (made.ours == no_row || made.other == no_row) return made;
    const match found = match_of(from, index, made.ours, made.other);
    made.against = found.ratio;
    made.stands = found.stands;
    return made;
}

match match_of(const table& from, std::size_t index, std::size_t row, std::size_t other) {
    const bool larger = from.figures[index].sense == better::larger;
    const std::vector<double>& left = from.rows[larger ? other : row].cells[index].samples;
    const std::vector<double>& right = from.rows[larger ? row : other].cells[index].samples;
    const std::vector<double> differences = round_differences(left, right);
    match made;
    if (differences.empty()) return made;
    const std::vector<double> ratios = finite_ratios(left, right);
    if (ratios.size() == differences.size() || ratios.size() >= min_judged_rounds) made.ratio = summarize(ratios);
    if (differences.size() < min_judged_rounds) return made;
    if (made.ratio.count != 0) {
        const double ratio = made.ratio.median;
        made.stands = standing_of(side_of_zero(round_logarithms(left, right)), ratio, 1.0,
                                  std::max(ratio, 1.0 / ratio) >= min_lead);
    } else {
        const double scale = std::max(std::abs(summarize(left).median), std::abs(summarize(right).median));
        const double median = summarize(differences).median;
        made.stands = standing_of(side_of_zero(differences), median, 0.0, std::abs(median) >= (min_lead - 1.0) * scale);
    }
    return made;
}

std::size_t best_of(const table& from, std::size_t index, const std::vector<std::size_t>& among) {
    if (among.empty()) return no_row;
    std::vector<std::size_t> judged;
    std::copy_if(among.begin(), among.end(), std::back_inserter(judged),
                 [&](std::size_t row) { return has_enough(from.rows[row].cells[index]); });
    std::vector<std::size_t> left = unbeaten(from, index, judged.empty() ? among : judged);
    if (left.empty()) left = judged;
    std::size_t best = left.front();
    for (const std::size_t row : left) {
        if (is_better(match_of(from, index, row, best))) best = row;
    }
    return best;
}

std::vector<std::size_t> best_choices(const table& from, std::size_t index) {
    if (const judged_figure* judged = from.figures[index].judged) return rows_named(from, judged->best);
    std::vector<std::size_t> choices;
    if (from.figures[index].sense == better::neither) return choices;
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        if (is_choice(from.rows[row].part) && has_enough(from.rows[row].cells[index])) choices.push_back(row);
    }
    const auto is_judged = [&](std::size_t row) {
        return std::any_of(choices.begin(), choices.end(), [&](std::size_t other) {
            return other != row && match_of(from, index, row, other).stands != standing::none;
        });
    };
    std::vector<std::size_t> judged;
    std::copy_if(choices.begin(), choices.end(), std::back_inserter(judged), is_judged);
    if (judged.empty()) return {};
    const std::vector<std::size_t> left = unbeaten(from, index, judged);
    return left.empty() ? std::vector<std::size_t>{best_of(from, index, judged)} : left;
}

std::vector<std::size_t> rows_of(const table& from, std::size_t index, role among) {
    std::vector<std::size_t> rows;
    if (from.figures[index].sense == better::neither) return rows;
    for (std::size_t row = 0; row < from.rows.size(); ++row) {
        if (from.rows[row].part == among && from.rows[row].cells[index].value.count != 0) rows.push_back(row);
    }
    return rows;
}

bool holds_row(const std::vector<std::size_t>& rows, std::size_t row) {
    return std::find(rows.begin(), rows.end(), row) != rows.end();
}

}
