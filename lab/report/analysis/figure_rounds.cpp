// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/figure_rounds.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "report/analysis/metric_value.hpp"
#include "report/numbers.hpp"
#include "report/result/primary.hpp"

namespace tenure::lab {

namespace {

/// The rounds of each metric of one variant.
struct variant_rounds {
    std::string_view variant;
    std::map<std::string_view, std::size_t> metrics;
};

std::vector<variant_rounds> rounds_by_variant(const experiment_result& found, which_figures which) {
    std::vector<variant_rounds> all;
    std::map<std::string_view, std::size_t> places;
    for (const contestant_result& who : found.contestants) {
        if (who.state != outcome::measured) continue;
        for (const metric& one : who.metrics) {
            const bool chosen = which == which_figures::primary ? is_primary(found, one.name, one.variant)
                                                                : one.sense != better::neither;
            if (!chosen) continue;
            const auto place = places.try_emplace(one.variant, all.size()).first->second;
            if (place == all.size()) all.push_back({one.variant, {}});
            std::size_t& rounds = all[place].metrics[one.name];
            rounds = std::max(rounds, value_of(one).count);
        }
    }
    return all;
}

}

std::vector<figure_rounds> other_rounds(const experiment_result& found, which_figures which) {
    std::map<std::size_t, std::vector<std::string>> names;
    for (const variant_rounds& of : rounds_by_variant(found, which)) {
        const std::size_t first = of.metrics.begin()->second;
        const bool alike =
            std::all_of(of.metrics.begin(), of.metrics.end(), [first](const auto& one) { return one.second == first; });
        if (alike && !of.variant.empty()) {
            names[first].emplace_back(of.variant);
            continue;
        }
        for (const auto& [name, rounds] : of.metrics) {
            names[rounds].push_back(of.variant.empty() ? std::string(name) : fmt::format("{}, {}", name, of.variant));
        }
    }
    std::vector<figure_rounds> made;
    for (auto& [rounds, which_ones] : names) {
        if (rounds != found.rounds && rounds != 0) made.push_back({rounds, std::move(which_ones)});
    }
    return made;
}

std::string other_rounds_text(const std::vector<figure_rounds>& found) {
    std::string text;
    for (const figure_rounds& one : found) {
        text += fmt::format("{}{} for: {}", text.empty() ? "" : "; ", count_text(one.rounds, "round"),
                            fmt::join(one.names, " / "));
    }
    return text;
}

}
