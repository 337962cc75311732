// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Resident memory over time: one line per contestant.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// The name of the lists that are drawn over time: KiB, read at equal intervals, beginning at 0 seconds.
inline constexpr std::string_view resident_readings_name = "resident, four times a second";
inline constexpr std::size_t resident_readings_per_second = 4;

struct resident_line {
    const contestant_result* who;
    role part;
    const std::vector<std::int64_t>* kibibytes; ///< not empty

    [[nodiscard]] double mib(std::size_t reading) const { return static_cast<double>((*kibibytes)[reading]) / 1024; }
};

/// The contestants that have readings for one variant, in their own order.
struct resident_view {
    std::string variant;
    std::vector<resident_line> lines;

    [[nodiscard]] std::size_t readings() const; ///< the most that a line has
};

/// By variant, in order of first appearance. Empty in a result from a summary file, which has no lists.
[[nodiscard]] std::vector<resident_view> resident_over_time(const experiment_result& found);

/// A line per contestant, with its name and its last value at its end. Styles of lines differ by role, also in grey.
[[nodiscard]] std::string draw_resident(const resident_view& view, std::string_view id);

}
