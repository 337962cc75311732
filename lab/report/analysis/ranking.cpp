// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "report/analysis/layout.hpp"
#include "report/analysis/statistics.hpp"

namespace tenure::lab {

namespace {

std::vector<double> ratios_of(const table_row& row, const std::vector<figure>& figures,
                              const std::vector<std::string>& unranked) {
    std::vector<double> ratios;
    for (std::size_t index = 0; index < figures.size(); ++index) {
        const double ratio = row.cells[index].ratio.median;
        if (figures[index].kind != figure_kind::timed || !(ratio > 0.0) || !std::isfinite(ratio)) continue;
        if (std::find(unranked.begin(), unranked.end(), figures[index].metric) != unranked.end()) continue;
        ratios.push_back(figures[index].sense == better::larger ? 1.0 / ratio : ratio);
    }
    return ratios;
}

/// Figures for which the baseline was measured; only these have ratios.
std::size_t figures_with_baseline(const table& whole, const std::vector<std::string>& unranked) {
    const auto baseline =
        std::find_if(whole.rows.begin(), whole.rows.end(), [](const table_row& row) { return row.is_baseline; });
    return baseline == whole.rows.end() ? 0 : ratios_of(*baseline, whole.figures, unranked).size();
}

}

std::vector<ranked> rank(const experiment_result& found) {
    if (found.summarized) return found.summarized->order;
    const layout laid = lay_out(found);
    const std::size_t possible = figures_with_baseline(laid.whole, found.unranked);
    std::vector<ranked> order;
    for (const table_row& row : laid.whole.rows) {
        if (!is_choice(row.part)) continue;
        const std::vector<double> ratios = ratios_of(row, laid.whole.figures, found.unranked);
        if (ratios.empty() || ratios.size() * 2 < possible) continue;
        order.push_back({row.who->name, geometric_mean(ratios), ratios.size(), possible});
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const ranked& left, const ranked& right) { return left.score < right.score; });
    return order;
}

}
