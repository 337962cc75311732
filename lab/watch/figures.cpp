// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "watch/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tenure::lab {

std::string percent_text(double part, double whole) {
    if (!(whole > 0) || !(part > 0)) return "0 %";
    const double share = 100 * part / whole;
    return share < 0.1 ? "< 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string whole_text(double value) {
    constexpr double most = 9e18;
    return std::isnan(value) ? "–" : integer_text(static_cast<std::int64_t>(std::clamp(value, -most, most)));
}

std::string whole_text(std::uint64_t value) { return integer_text(static_cast<std::int64_t>(value)); }

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", whole_text(count), noun, count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}
