// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

constexpr std::string_view dash = "–";
constexpr std::string_view minus = "−";

std::string grouped(std::string digits) {
    for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
    return digits;
}

/// A dash between two minus signs would be hard to read.
std::string range_text(const std::string& low, const std::string& high) {
    return low.starts_with(minus) ? fmt::format("{} to {}", low, high) : fmt::format("{}–{}", low, high);
}

/// The number of decimals for three significant digits, so that columns of similar values align.
int decimals_for(double magnitude) {
    if (magnitude >= 99.95) return 0;
    if (magnitude >= 9.995) return 1;
    if (magnitude >= 0.0995) return 2;
    return 3;
}

}

std::string value_text(double value) {
    if (std::isnan(value)) return std::string(dash);
    if (std::isinf(value)) return value > 0 ? "∞" : fmt::format("{}∞", minus);
    const double magnitude = std::abs(value);
    const std::string_view sign = value < 0 ? minus : "";
    if (magnitude == 0.0) return "0";
    if (magnitude >= 1e15) return fmt::format("{}{:.2e}", sign, magnitude);
    if (magnitude < 0.0005) return fmt::format("{}{:.1e}", sign, magnitude);
    const int decimals = decimals_for(magnitude);
    if (decimals > 0) return fmt::format("{}{:.{}f}", sign, magnitude, decimals);
    return fmt::format("{}{}", sign, grouped(fmt::format("{:.0f}", magnitude)));
}

std::string ratio_text(double ratio) {
    if (std::isnan(ratio)) return std::string(dash);
    if (std::isinf(ratio)) return "×∞";
    if (ratio >= 99.95) return fmt::format("×{}", grouped(fmt::format("{:.0f}", ratio)));
    if (ratio >= 9.995) return fmt::format("×{:.1f}", ratio);
    if (ratio >= 0.0995 || ratio == 0.0) return fmt::format("×{:.2f}", ratio);
    return fmt::format("×{:.3f}", ratio);
}

std::string spread_text(const summary& found) {
    if (found.count < min_spread_rounds) return std::string(dash);
    const std::string low = value_text(found.low);
    const std::string high = value_text(found.high);
    return low == high ? low : range_text(low, high);
}

std::string integer_text(std::int64_t value) {
    // The magnitude of the smallest number does not fit the signed type.
    const std::uint64_t magnitude =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    return fmt::format("{}{}", value < 0 ? minus : "", grouped(std::to_string(magnitude)));
}

std::string short_text(double value) {
    static constexpr std::array<std::string_view, 6> letters{"", "k", "M", "G", "T", "P"};
    double magnitude = std::abs(value);
    if (magnitude < 10'000) return fmt::format("{}{:.4g}", value < 0 ? minus : "", magnitude);
    std::size_t power = 0;
    for (; magnitude >= 999.5 && power + 1 < letters.size(); ++power) magnitude /= 1000.0;
    return fmt::format("{}{:.3g}{}", value < 0 ? minus : "", magnitude, letters[power]);
}

std::string fact_text(const summary& found) {
    const auto one = [](double value) {
        const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
        return whole ? integer_text(static_cast<std::int64_t>(value)) : value_text(value);
    };
    std::string median = one(found.median);
    if (found.count < min_spread_rounds || (one(found.low) == median && one(found.high) == median)) return median;
    return fmt::format("{} ({})", median, range_text(one(found.low), one(found.high)));
}

std::string share_text(std::size_t part, std::size_t whole) {
    if (whole == 0) return std::string(dash);
    return share_text(part == whole ? 1.0 : static_cast<double>(part) / static_cast<double>(whole));
}

std::string share_text(double share) {
    if (std::isnan(share)) return std::string(dash);
    if (share <= 0 || share >= 1) return share <= 0 ? "0 %" : "100 %";
    const double percent = 100.0 * share;
    if (percent < 0.1) return "< 0.1 %";
    if (percent > 99.9) return "> 99.9 %";
    return percent >= 1.0 && percent < 99.0 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.1f} %", percent);
}

std::string count_text(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(std::to_string(count)), noun, count == 1 ? "" : "s");
}

std::string exact_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

}
