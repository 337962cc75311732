// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenure::lab {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted_numbers(std::span<const double> samples) {
    std::vector<double> numbers;
    numbers.reserve(samples.size());
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(numbers),
                 [](double sample) { return !std::isnan(sample); });
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

double quantile_of_sorted(const std::vector<double>& numbers, double fraction) {
    if (numbers.empty()) return nothing;
    const double place = fraction * static_cast<double>(numbers.size() - 1);
    const double below = std::floor(place);
    const auto index = static_cast<std::size_t>(below);
    const double weight = place - below;
    // Without this, an infinite neighbour of weight 0 would make the result NaN.
    if (weight == 0.0) return numbers[index];
    return numbers[index] * (1.0 - weight) + numbers[index + 1] * weight;
}

}

summary summarize(std::span<const double> samples) {
    const std::vector<double> numbers = sorted_numbers(samples);
    return {quantile_of_sorted(numbers, 0.5),
            quantile_of_sorted(numbers, 0.25),
            quantile_of_sorted(numbers, 0.75),
            numbers.size(),
            numbers.empty() ? nothing : numbers.front(),
            numbers.empty() ? nothing : numbers.back()};
}

double quantile(std::span<const double> samples, double fraction) {
    return quantile_of_sorted(sorted_numbers(samples), fraction);
}

std::vector<double> round_ratios(std::span<const double> samples, std::span<const double> baseline) {
    std::vector<double> ratios(samples.size(), nothing);
    const auto negative = [](double sample) { return sample < 0.0; };
    if (std::any_of(samples.begin(), samples.end(), negative)) return ratios;
    if (std::any_of(baseline.begin(), baseline.end(), negative)) return ratios;
    const std::size_t rounds = std::min(samples.size(), baseline.size());
    for (std::size_t round = 0; round < rounds; ++round) {
        if (baseline[round] > 0.0) ratios[round] = samples[round] / baseline[round];
    }
    return ratios;
}

double geometric_mean(std::span<const double> values) {
    double logarithms = 0.0;
    std::size_t count = 0;
    for (const double value : values) {
        if (!(value > 0.0)) continue;
        logarithms += std::log(value);
        ++count;
    }
    return count == 0 ? nothing : std::exp(logarithms / static_cast<double>(count));
}

bool has_range(const summary& found) { return !std::isnan(found.lowest) && !std::isnan(found.highest); }

bool ranges_apart(const summary& left, const summary& right) {
    return left.highest < right.lowest || right.highest < left.lowest;
}

}
