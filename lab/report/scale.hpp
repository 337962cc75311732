// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// From values to pixels: a linear or logarithmic axis and the values that are written at it.

#include <cstdint>
#include <vector>

namespace tenure::lab {

enum class scale_kind : std::uint8_t { linear, logarithmic };

class scale {
public:
    /// An axis from 0 for lengths, or logarithmic when the largest value is over `log_threshold` times the smallest
    /// that is above zero: a linear bar would be a hair there. With a value below zero it is linear, and begins there.
    static scale for_lengths(const std::vector<double>& values, double pixels);

    /// An axis from 0 whatever the range, or from the value that is furthest below: for memory, where a hair is what
    /// there is to see.
    static scale for_parts(const std::vector<double>& values, double pixels);

    /// A linear axis over a range with round ends.
    static scale for_range(double low, double high, double pixels);

    /// Pixels from the start of the axis, held within it.
    [[nodiscard]] double place(double value) const;

    [[nodiscard]] bool beyond(double value) const; ///< past the end of the axis
    [[nodiscard]] std::vector<double> ticks() const;
    [[nodiscard]] scale_kind kind() const { return kind_; }

    static constexpr double log_threshold = 30.0;

private:
    scale(scale_kind kind, double low, double high, double pixels)
        : kind_(kind), low_(low), high_(high), pixels_(pixels) {}

    scale_kind kind_;
    double low_, high_, pixels_;
};

}
