// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenure::lab {

namespace {

/// The largest step of 1, 2 or 5 times a power of ten that divides `span` into at least `pieces`.
double round_step(double span, double pieces) {
    const double rough = span / pieces;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : std::array{5.0, 2.0, 1.0}) {
        if (factor * power <= rough) return factor * power;
    }
    return power;
}

}

scale scale::for_parts(const std::vector<double>& values, double pixels) {
    double largest = 0.0;
    double lowest = 0.0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        largest = std::max(largest, value);
        lowest = std::min(lowest, value);
    }
    const bool nothing = largest == 0.0 && lowest == 0.0;
    return {scale_kind::linear, lowest * 1.03, nothing ? 1.0 : largest * 1.03, pixels};
}

scale scale::for_lengths(const std::vector<double>& values, double pixels) {
    double smallest = INFINITY;
    double largest = 0.0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        if (value < 0.0) return for_parts(values, pixels);
        largest = std::max(largest, value);
        if (value > 0.0) smallest = std::min(smallest, value);
    }
    if (largest <= log_threshold * smallest) return for_parts(values, pixels);
    // Leaves some room below, so that the smallest value has a bar too.
    return {scale_kind::logarithmic, std::log10(smallest) - 0.15, std::log10(largest) + 0.03, pixels};
}

scale scale::for_range(double low, double high, double pixels) {
    const double span = high > low ? high - low : 1.0;
    return {scale_kind::linear, low, low + span, pixels};
}

double scale::place(double value) const {
    double position = value;
    if (kind_ == scale_kind::logarithmic) position = value > 0.0 ? std::log10(value) : low_;
    return std::clamp((position - low_) / (high_ - low_), 0.0, 1.0) * pixels_;
}

bool scale::beyond(double value) const {
    return kind_ == scale_kind::logarithmic ? value > std::pow(10.0, high_) : value > high_;
}

std::vector<double> scale::ticks() const {
    std::vector<double> found;
    if (kind_ == scale_kind::linear) {
        const double step = round_step(high_ - low_, 3.0);
        for (double index = std::ceil(low_ / step - 1e-9); index * step <= high_ + step * 1e-9; index += 1.0) {
            found.push_back(index * step);
        }
        return found;
    }
    // Every power of ten, or every second one when there are many; with 2 and 5 between them when there are few.
    const double decades = high_ - low_;
    const double stride = decades > 6.0 ? 2.0 : 1.0;
    for (double power = std::floor(low_); power <= high_; power += stride) {
        for (const double factor : std::array{1.0, 2.0, 5.0}) {
            if (factor > 1.0 && decades > 2.2) break;
            const double exponent = power + std::log10(factor);
            if (exponent >= low_ && exponent <= high_) found.push_back(std::pow(10.0, power) * factor);
        }
    }
    return found;
}

}
