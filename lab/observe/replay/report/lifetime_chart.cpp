// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/report/lifetime_chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/chart/svg.hpp"

namespace tenure::lab {

namespace {

constexpr double width = 640, height = 130, left = 44, bottom = 22, top = 8, bar_gap = 2;

/// "1", "4-7": the lifetimes of a bar.
std::string range_of(std::size_t bits) {
    if (bits <= 1) return std::to_string(bits);
    const std::uint64_t first = std::uint64_t{1} << (bits - 1);
    return fmt::format("{}-{}", first, first * 2 - 1);
}

}

std::string lifetime_chart(const block_group& group, std::size_t number) {
    const auto last =
        std::find_if(group.lifetimes.rbegin(), group.lifetimes.rend(), [](std::uint64_t each) { return each != 0; });
    const std::size_t bars = std::max<std::size_t>(static_cast<std::size_t>(group.lifetimes.rend() - last), 8);
    const std::uint64_t most = *std::max_element(group.lifetimes.begin(), group.lifetimes.end());
    svg drawn(width, height, fmt::format("lifetimes-{}", number), "Lifetimes",
              "How many blocks live for how many events of the program; each bar is twice as long as the one before");
    const double step = (width - left) / static_cast<double>(bars), floor = height - bottom;
    drawn.line(left, floor, width, floor, "axis");
    if (most == 0) {
        drawn.text(left + 8, floor - 20, "no block was freed", "tick");
        return drawn.str();
    }
    drawn.text(left - 6, top + 8, fmt::format("{}", most), "tick", anchor::end);
    drawn.text(left - 6, floor, "0", "tick", anchor::end);
    for (std::size_t i = 0; i < bars; ++i) {
        const double x = left + step * static_cast<double>(i);
        const double share = static_cast<double>(group.lifetimes[i]) / static_cast<double>(most);
        // A few blocks among millions decide over Temp, so they are drawn too.
        const double tall = group.lifetimes[i] == 0 ? 0 : std::max(2.0, share * (floor - top));
        drawn.open(fmt::format("{} blocks live for {} events", group.lifetimes[i], range_of(i)));
        drawn.rect(x + bar_gap / 2, floor - tall, step - bar_gap, tall, "life");
        drawn.close();
        if (i % std::max<std::size_t>(1, bars / 8) == 0)
            drawn.text(x + step / 2, height - 6, i == 0 ? "0" : fmt::format("{}", std::uint64_t{1} << (i - 1)), "tick",
                       anchor::middle);
    }
    return drawn.str();
}

}
