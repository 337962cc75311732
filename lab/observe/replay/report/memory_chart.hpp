// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory over a trace: what the program had in use, and what each malloc needed for it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/layout.hpp"

namespace tenure::lab {

/// One malloc, by place.
struct memory_line {
    const contestant_result* who;
    role part;
    std::vector<double> mib;

    [[nodiscard]] double peak_mib() const;
};

/// By place, from the begin of the trace to its end.
struct memory_over_trace {
    std::vector<double> events, seconds, live_mib;
    std::vector<memory_line> lines;

    [[nodiscard]] bool is_empty() const { return lines.empty() || events.size() < 2; }
    [[nodiscard]] bool has_time() const { return !seconds.empty() && seconds.back() > seconds.front(); }
    [[nodiscard]] double peak_live_mib() const;
    /// Resident per live byte; NaN where so little is live that the quotient would say nothing.
    [[nodiscard]] double fragmentation(const memory_line& line, std::size_t place) const;
};

/// Places with less than this share of the peak of live bytes have no fragmentation.
inline constexpr double least_live_share = 0.05;

/// Empty in a result without these lists: of an interrupted run, or from a summary file. Lists that cannot be drawn are
/// left out.
[[nodiscard]] memory_over_trace memory_of(const experiment_result& found);

enum class trace_axis : std::uint8_t { seconds, events };

/// The live bytes as an area, and a line for each malloc. Lines differ in dashes and marks as well as in colour.
[[nodiscard]] std::string draw_memory(const memory_over_trace& memory, trace_axis along, std::string_view id);

/// Resident per live byte, on a logarithmic scale.
[[nodiscard]] std::string draw_fragmentation(const memory_over_trace& memory, trace_axis along, std::string_view id);

/// Which line is which malloc, with its peak and that of the live bytes; or with its mean of resident per live byte.
[[nodiscard]] std::string memory_key(const memory_over_trace& memory);
[[nodiscard]] std::string fragmentation_key(const memory_over_trace& memory);

/// The rules of the charts.
[[nodiscard]] std::string_view memory_style();

}
