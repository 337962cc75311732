// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/standings.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "report/analysis/conclusion.hpp"
#include "report/analysis/layout.hpp"

namespace tenure::lab {

namespace {

void count(standing_counts& into, const verdict& one) {
    switch (one.stands) {
    case standing::leads: ++into.leads; break;
    case standing::level: ++into.level; break;
    case standing::trails: ++(one.against.median <= much_behind ? into.trails_little : into.trails_much); break;
    case standing::none: break;
    }
}

trailing_figure trailing(const std::string& experiment, const table& from, const verdict& one) {
    const figure& shown = from.figures[one.figure_index];
    const auto median = [&](std::size_t row) { return from.rows[row].cells[one.figure_index].value.median; };
    return {experiment,
            shown.metric,
            shown.variant,
            shown.unit,
            shown.primary,
            from.rows[one.ours].who->name,
            from.rows[one.other].who->name,
            median(one.ours),
            median(one.other),
            one.against};
}

/// Without a ratio the distance is "from 0", which is the largest.
double distance_of(const trailing_figure& one) {
    return one.ratio.count == 0 ? std::numeric_limits<double>::infinity() : one.ratio.median;
}

}

standings standings_of(const result& found) {
    standings made;
    standing_counts others;
    for (const experiment_result& experiment : found.experiments) {
        const layout laid = lay_out(experiment);
        experiment_standing row{experiment.name, {}};
        for (const verdict& one : verdicts_of(laid.whole)) {
            count(row.counts, one);
            count(made.all, one);
            if (experiment.name != vectors_name) count(others, one);
            if (one.stands == standing::trails) made.trails.push_back(trailing(experiment.name, laid.whole, one));
        }
        if (row.counts.figures() != 0) made.experiments.push_back(std::move(row));
    }
    if (others.figures() != 0 && others.figures() != made.all.figures()) made.all_but_vectors = others;
    std::stable_sort(made.trails.begin(), made.trails.end(), [](const trailing_figure& a, const trailing_figure& b) {
        return distance_of(a) > distance_of(b);
    });
    return made;
}

std::string figure_name(const trailing_figure& one) {
    return one.variant.empty() ? one.metric : fmt::format("{}, {}", one.metric, one.variant);
}

}
