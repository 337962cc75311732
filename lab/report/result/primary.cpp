// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/primary.hpp"

#include <algorithm>

namespace tenure::lab {

namespace {

bool covers(const figure_pattern& pattern, std::string_view metric, std::string_view variant) {
    return matches(pattern.metric, metric) && matches(pattern.variant, variant);
}

}

bool matches(std::string_view pattern, std::string_view text) {
    // The place of the last star, and how much of the text it has matched so far.
    std::size_t star = std::string_view::npos;
    std::size_t taken = 0;
    std::size_t at = 0;
    for (std::size_t place = 0; place < text.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = place;
        } else if (at < pattern.size() && pattern[at] == text[place]) {
            ++at;
            ++place;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            place = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool is_primary(const experiment_result& found, std::string_view metric, std::string_view variant) {
    return std::any_of(found.primary.begin(), found.primary.end(),
                       [&](const figure_pattern& one) { return covers(one, metric, variant); });
}

std::vector<figure_pattern> unmatched_primary(const experiment_result& found) {
    std::vector<figure_pattern> unmatched;
    for (const figure_pattern& one : found.primary) {
        const bool any =
            std::any_of(found.contestants.begin(), found.contestants.end(), [&](const contestant_result& who) {
                return std::any_of(who.metrics.begin(), who.metrics.end(), [&](const metric& measured) {
                    return covers(one, measured.name, measured.variant);
                });
            });
        if (!any) unmatched.push_back(one);
    }
    return unmatched;
}

}
