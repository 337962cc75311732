// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/signed_rank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tenure::lab {

namespace {

/// The largest sum of ranks of one side that is significant, for 5 to 20 differences (two-sided, 5 %; 6.25 % for 5).
constexpr std::array<double, 16> critical_sums{0, 0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52};

double critical_sum(std::size_t count) {
    if (count < min_judged_rounds) return -1.0;
    const std::size_t place = count - min_judged_rounds;
    if (place < critical_sums.size()) return critical_sums[place];
    // The normal approximation: its mean and deviation without ties.
    const auto n = static_cast<double>(count);
    return n * (n + 1) / 4 - 1.96 * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
}

}

side side_of_zero(std::span<const double> differences) {
    std::vector<double> ranked;
    std::copy_if(differences.begin(), differences.end(), std::back_inserter(ranked),
                 [](double one) { return one < 0.0 || one > 0.0; });
    std::sort(ranked.begin(), ranked.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    double below = 0.0;
    double above = 0.0;
    for (std::size_t first = 0; first < ranked.size();) {
        std::size_t end = first + 1;
        while (end < ranked.size() && std::abs(ranked[end]) == std::abs(ranked[first])) ++end;
        const double rank = static_cast<double>(first + end + 1) / 2;
        for (; first < end; ++first) (ranked[first] < 0.0 ? below : above) += rank;
    }
    if (std::min(below, above) > critical_sum(ranked.size())) return side::neither;
    return below > above ? side::below : side::above;
}

}
