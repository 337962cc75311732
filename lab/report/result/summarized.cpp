// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/summarized.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "report/analysis/distances.hpp"
#include "report/analysis/judge.hpp"
#include "report/analysis/layout.hpp"
#include "report/analysis/metric_value.hpp"
#include "report/analysis/quotients.hpp"
#include "report/analysis/ranking.hpp"
#include "report/analysis/standings.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr int min_digits = 3;
constexpr int max_digits = 17; // enough for every double

/// The number with the fewest digits, at least three, that `is_as_good`.
template<class Accept>
double rounded(double value, Accept is_as_good) {
    if (!std::isfinite(value)) return value;
    for (int digits = min_digits; digits < max_digits; ++digits) {
        const std::string words = fmt::format("{:.{}e}", value, digits - 1);
        double shorter = 0.0;
        std::from_chars(words.data(), words.data() + words.size(), shorter);
        if (is_as_good(shorter)) return shorter;
    }
    return value;
}

double rounded_ratio(double ratio) {
    return rounded(ratio, [shown = ratio_text(ratio)](double shorter) { return ratio_text(shorter) == shown; });
}

/// A figure is shown as a value in one table and as a fact in another.
std::string text_of(double value) { return value_text(value) + fact_text({value, value, value, 1}); }

double rounded_value(double value) {
    return rounded(value, [shown = text_of(value)](double shorter) { return text_of(shorter) == shown; });
}

/// Numbers with an order that must remain.
using ordered_numbers = std::set<double>;

/// Whether a shorter number is nearer to `exact` than half the way to its neighbours, so that the order remains.
bool keeps_order(const ordered_numbers& numbers, double exact, double shorter) {
    const auto place = numbers.find(exact);
    double room = std::numeric_limits<double>::infinity();
    if (place != numbers.begin()) room = exact - *std::prev(place);
    if (std::next(place) != numbers.end()) room = std::min(room, *std::next(place) - exact);
    return std::abs(shorter - exact) < room / 2;
}

summary median_only(const summary& found) {
    const double unknown = summarize({}).median;
    return {found.median, unknown, unknown, found.count};
}

/// The medians of a figure keep their order, because charts sort by it.
summary without_range(const summary& found, const ordered_numbers& medians) {
    if (found.count == 0 || std::isnan(found.median)) return median_only(found);
    const double median = rounded(found.median, [&, shown = text_of(found.median)](double shorter) {
        return text_of(shorter) == shown && keeps_order(medians, found.median, shorter);
    });
    // The ends have fewer digits than the median, which may put them on its other side.
    const double low = found.low == found.median ? median : std::min(rounded_value(found.low), median);
    const double high = found.high == found.median ? median : std::max(rounded_value(found.high), median);
    return {median, low, high, found.count};
}

summary ratio_only(const summary& found) {
    summary made = median_only(found);
    made.median = rounded_ratio(made.median);
    return made;
}

bool is_ordered(standing stands) { return stands == standing::leads || stands == standing::trails; }

judged_figure judged(const table& from, const verdict& one) {
    const figure& column = from.figures[one.figure_index];
    const auto name = [&](std::size_t row) { return row == no_row ? std::string() : from.rows[row].who->name; };
    judged_figure made{column.metric,       column.variant,
                       column.unit,         {},
                       name(one.ours),      name(one.other),
                       name(one.reference), is_ordered(one.stands) ? median_only(one.against) : ratio_only(one.against),
                       one.stands};
    for (const std::size_t row : one.best) made.best.push_back(name(row));
    return made;
}

/// The tables show a rank only when the experiment says how it is made and does not bring its own.
std::vector<ranked> shown_rank(const experiment_result& found) {
    if (found.ranking_rule.empty() || !found.ranking.empty()) return {};
    std::vector<ranked> order = rank(found);
    for (ranked& one : order) one.score = rounded_ratio(one.score);
    return order;
}

std::vector<quotient_row> rounded_quotients(const experiment_result& found) {
    std::vector<quotient_row> rows = quotients_of(found);
    for (quotient_row& row : rows) {
        for (summary& one : row.all) {
            one = {rounded_ratio(one.median), rounded_value(one.low), rounded_value(one.high), one.count};
        }
    }
    return rows;
}

using figure_key = std::tuple<std::string_view, std::string_view, std::string_view>;

/// The place of each figure by first appearance, which decides the order of columns and tables.
std::map<figure_key, std::size_t> places_of(const experiment_result& found) {
    std::map<figure_key, std::size_t> places;
    for (const contestant_result& who : found.contestants) {
        for (const metric& one : who.metrics) places.try_emplace({one.name, one.variant, one.unit}, places.size());
    }
    return places;
}

std::map<figure_key, ordered_numbers> medians_of(const experiment_result& found) {
    std::map<figure_key, ordered_numbers> medians;
    for (const contestant_result& who : found.contestants) {
        for (const metric& one : who.metrics) {
            const double median = value_of(one).median;
            if (!std::isnan(median)) medians[{one.name, one.variant, one.unit}].insert(median);
        }
    }
    return medians;
}

void add_table(experiment_result& into, const experiment_result& found, const table& from,
               const std::map<figure_key, std::size_t>& places) {
    for (std::size_t index = 0; index < from.figures.size(); ++index) {
        const figure& column = from.figures[index];
        const figure_key key{column.metric, column.variant, column.unit};
        into.summarized->figures[places.at(key)] = judged(from, verdict_of(from, index));
        for (const table_row& row : from.rows) {
            contestant_result& who = into.contestants[static_cast<std::size_t>(row.who - found.contestants.data())];
            const auto place = std::find_if(who.metrics.begin(), who.metrics.end(), [&](const metric& one) {
                return figure_key{one.name, one.variant, one.unit} == key;
            });
            if (place != who.metrics.end()) place->summarized->ratio = ratio_only(row.cells[index].ratio);
        }
    }
}

experiment_result summarized_experiment(const experiment_result& found) {
    experiment_result made = found;
    if (found.summarized) return made;
    made.unfair.clear();
    made.properties.clear();
    made.summarized = experiment_summary{{}, rounded_quotients(found), shown_rank(found), {}};
    std::map<figure_key, ordered_numbers> medians = medians_of(found);
    made.lists.clear();
    for (contestant_result& who : made.contestants) {
        who.proof.clear();
        who.note.clear();
        who.lists.clear();
        for (metric& one : who.metrics) {
            const ordered_numbers& of_figure = medians[{one.name, one.variant, one.unit}];
            one.summarized = metric_summary{without_range(value_of(one), of_figure), summarize({})};
            one.samples.clear();
        }
    }
    for (const distance_view& view : distances_of(found)) {
        made.summarized->distances.push_back({view.who->name, view.variants, view.found});
    }
    const std::map<figure_key, std::size_t> places = places_of(found);
    made.summarized->figures.resize(places.size());
    const layout laid = lay_out(found);
    add_table(made, found, laid.whole, places);
    for (const table& told : laid.told) add_table(made, found, told, places);
    return made;
}

/// Leads and trails are ordered by their distances.
void shorten_distances(result& made) {
    std::vector<double*> distances;
    for (experiment_result& experiment : made.experiments) {
        for (judged_figure& one : experiment.summarized->figures) {
            if (is_ordered(one.stands) && one.against.count != 0) distances.push_back(&one.against.median);
        }
    }
    ordered_numbers sorted;
    for (const double* one : distances) sorted.insert(*one);
    for (double* const one : distances) {
        *one = rounded(*one, [&, exact = *one](double shorter) {
            return ratio_text(shorter) == ratio_text(exact) && keeps_order(sorted, exact, shorter) &&
                   (shorter <= much_behind) == (exact <= much_behind);
        });
    }
}

std::string why_not_summarized(const experiment_result& found) {
    for (const contestant_result& who : found.contestants) {
        const auto same_name = [&](const contestant_result& one) { return one.name == who.name; };
        if (std::count_if(found.contestants.begin(), found.contestants.end(), same_name) > 1) {
            return fmt::format("{} has several contestants with the name \"{}\"", found.name, who.name);
        }
        if (const std::size_t twice = ambiguous_figures(who); twice != 0) {
            return fmt::format("{} / {} has {} more than once under one name", found.name, who.name,
                               count_text(twice, "figure"));
        }
    }
    return {};
}

}

std::string why_not_summarized(const result& found) {
    for (const experiment_result& one : found.experiments) {
        if (std::string why = why_not_summarized(one); !why.empty()) return why;
    }
    return {};
}

result summarized(const result& found) {
    result made = found;
    std::transform(found.experiments.begin(), found.experiments.end(), made.experiments.begin(), summarized_experiment);
    if (!is_summary(found)) shorten_distances(made);
    return made;
}

}
