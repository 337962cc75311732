// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "report/json/json_summary.hpp"
#include "report/json/json_text.hpp"
#include "report/result/words.hpp"

namespace tenure::lab {

namespace {

using nlohmann::ordered_json;

/// Whole numbers without the ".0" that JSON does not need.
ordered_json short_number(double value) {
    constexpr double largest = 1e15;
    const bool is_whole = std::abs(value) < largest && value == std::floor(value);
    if (is_whole && !(value == 0.0 && std::signbit(value))) return static_cast<std::int64_t>(value);
    return json_number(value);
}

ordered_json index_of(const experiment_result& found, std::string_view name) {
    const auto place = std::find_if(found.contestants.begin(), found.contestants.end(),
                                    [&](const contestant_result& one) { return one.name == name; });
    if (name.empty() || place == found.contestants.end()) return nullptr;
    return place - found.contestants.begin();
}

const metric* find_metric(const contestant_result& who, const judged_figure& column) {
    const auto place = std::find_if(who.metrics.begin(), who.metrics.end(), [&](const metric& one) {
        return one.name == column.metric && one.variant == column.variant && one.unit == column.unit;
    });
    return place == who.metrics.end() ? nullptr : &*place;
}

ordered_json values_of(const metric* measured, std::size_t rounds) {
    if (measured == nullptr) return nullptr;
    const summary& value = measured->summarized->value;
    const summary& ratio = measured->summarized->ratio;
    ordered_json made = ordered_json::array();
    if (value.count == 0) return made;
    const bool has_rounds = value.count != rounds;
    made.push_back(short_number(value.median));
    if (has_rounds || value.low != value.median || value.high != value.median) {
        made.push_back(short_number(value.low));
        made.push_back(short_number(value.high));
    }
    if (has_rounds || ratio.count != 0)
        made.push_back(ratio.count == 0 ? ordered_json(nullptr) : short_number(ratio.median));
    if (has_rounds) made.push_back(value.count);
    return made;
}

/// The rounds of most of its contestants would be shorter to write; the most rounds are what the tables call its
/// rounds.
std::size_t rounds_of(const experiment_result& found, const judged_figure& column) {
    std::size_t rounds = 0;
    for (const contestant_result& who : found.contestants) {
        const metric* measured = find_metric(who, column);
        if (measured != nullptr) rounds = std::max(rounds, measured->summarized->value.count);
    }
    return rounds;
}

better sense_of(const experiment_result& found, const judged_figure& column) {
    for (const contestant_result& who : found.contestants) {
        if (const metric* measured = find_metric(who, column)) return measured->sense;
    }
    return better::smaller;
}

/// Removes the null items at the end.
ordered_json shortened(ordered_json list) {
    while (!list.empty() && list.back().is_null()) list.erase(list.size() - 1);
    return list;
}

ordered_json to_value(const judged_figure& column, const experiment_result& found) {
    ordered_json made{{"figure", ordered_json::array({column.metric, column.unit})}};
    const better sense = sense_of(found, column);
    if (sense != better::smaller) made["better"] = word_of(sense);
    const std::size_t rounds = rounds_of(found, column);
    if (rounds != found.rounds) made["rounds"] = rounds;
    if (!column.best.empty()) {
        made["best"] = array_of(column.best, [&](const std::string& name) { return index_of(found, name); });
    }
    ordered_json verdict = ordered_json::array({index_of(found, column.ours), index_of(found, column.reference)});
    if (!column.ours.empty() && !column.other.empty()) {
        verdict.push_back(index_of(found, column.other));
        verdict.push_back(standing_words[static_cast<std::size_t>(column.stands)]);
        verdict.push_back(column.against.count == 0 ? ordered_json(nullptr) : short_number(column.against.median));
    } else {
        verdict.push_back(index_of(found, column.other));
    }
    verdict = shortened(std::move(verdict));
    if (!verdict.empty()) made["verdict"] = std::move(verdict);
    made["values"] = shortened(array_of(
        found.contestants, [&](const contestant_result& who) { return values_of(find_metric(who, column), rounds); }));
    return made;
}

/// In order of first appearance, as the tables are.
ordered_json variants_of(const experiment_result& found) {
    ordered_json made = ordered_json::array();
    for (const judged_figure& column : found.summarized->figures) {
        auto place = std::find_if(made.begin(), made.end(),
                                  [&](const ordered_json& one) { return one["variant"] == column.variant; });
        if (place == made.end()) {
            made.push_back(ordered_json{{"variant", column.variant}, {"figures", ordered_json::array()}});
            place = std::prev(made.end());
        }
        (*place)["figures"].push_back(to_value(column, found));
    }
    return made;
}

ordered_json to_value(const quotient_row& row) {
    return {
        {"figure", row.figure},
        {"values", array_of(row.all, [](const summary& one) {
             if (one.count == 0) return ordered_json::array();
             return ordered_json{short_number(one.median), short_number(one.low), short_number(one.high), one.count};
         })}};
}

ordered_json to_value(const distance_row& row, const experiment_result& found) {
    const distance_summary& all = row.found;
    return {{"contestant", index_of(found, row.contestant)},
            {"variants", row.variants},
            {"values", {all.count, all.usual, all.usual_count, all.distinct, all.backwards, all.lowest, all.highest}}};
}

}

void write_summary(const experiment_result& found, nlohmann::ordered_json& into) {
    const experiment_summary& all = *found.summarized;
    if (!found.parameters.empty()) {
        into["parameters"] = array_of(found.parameters, [](const parameter& one) {
            return ordered_json::array({one.name, one.value});
        });
    }
    if (!found.primary.empty()) {
        into["primary"] = array_of(found.primary, [](const figure_pattern& one) {
            return ordered_json::array({one.metric, one.variant});
        });
    }
    into["variants"] = variants_of(found);
    if (!all.quotients.empty()) {
        into["quotient_values"] = array_of(all.quotients, [](const quotient_row& row) { return to_value(row); });
    }
    if (!all.order.empty()) {
        into["rank"] = array_of(all.order, [&](const ranked& one) {
            return ordered_json{index_of(found, one.name), short_number(one.score), one.measured, one.possible};
        });
    }
    if (!all.distances.empty()) {
        into["distances"] = array_of(all.distances, [&](const distance_row& row) { return to_value(row, found); });
    }
}

}
