// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Maps values to pixels: a linear or logarithmic axis with tick values.

#include <cstdint>
#include <vector>

namespace tenure::lab {

enum class scale_kind : std::uint8_t { linear, logarithmic };

class scale {
public:
    /// An axis from 0 for lengths. It is logarithmic when the largest value is over `log_threshold` times the smallest
    /// one above zero, whose linear bar would be invisible. With a value below zero it is linear and begins there.
    static scale for_lengths(const std::vector<double>& values, double pixels);

    /// A linear axis from 0 whatever the range, or from the lowest value below 0. For memory, where an invisibly short
    /// bar is the right picture.
    static scale for_parts(const std::vector<double>& values, double pixels);

    /// A linear axis over a range with round ends.
    static scale for_range(double low, double high, double pixels);

    /// Pixels from the start of the axis, clamped to it.
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
