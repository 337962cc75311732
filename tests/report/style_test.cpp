// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_style.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

using palette = std::map<std::string, std::string>;

/// The colours that are set between two places of the style sheet: "--ink: #1a1d21;" and so on.
palette colours_after(std::string_view style, std::string_view opening) {
    const std::size_t begin = style.find(":root", style.find(opening));
    const std::string_view rules = style.substr(begin, style.find('}', begin) - begin);
    palette colours;
    for (std::size_t at = rules.find("--"); at != std::string_view::npos; at = rules.find("--", at + 2)) {
        const std::size_t colon = rules.find(": ", at);
        const std::size_t end = rules.find(';', at);
        colours[std::string(rules.substr(at + 2, colon - at - 2))] = rules.substr(colon + 2, end - colon - 2);
    }
    return colours;
}

double channel(const std::string& colour, std::size_t index) {
    const bool brief = colour.size() == 4;
    const std::string digits = brief ? std::string(2, colour[1 + index]) : colour.substr(1 + 2 * index, 2);
    const double value = std::stoi(digits, nullptr, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const std::string& colour) {
    return 0.2126 * channel(colour, 0) + 0.7152 * channel(colour, 1) + 0.0722 * channel(colour, 2);
}

/// As the Web Content Accessibility Guidelines define it.
double contrast(const std::string& one, const std::string& other) {
    const double first = luminance(one);
    const double second = luminance(other);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

using pairs = std::array<std::pair<const char*, const char*>, 16>;

constexpr pairs text_on_ground{{{"ink", "page"},
                                {"soft", "page"},
                                {"ours", "page"},
                                {"good", "page"},
                                {"bad", "page"},
                                {"ink", "panel"},
                                {"soft", "panel"},
                                {"good", "panel"},
                                {"bad", "panel"},
                                {"ours", "panel"},
                                {"ink", "s1"},
                                {"ink", "s2"},
                                {"ink", "s3"},
                                {"warn", "warn-soft"},
                                {"ink", "peer"},
                                {"soft", "s1"}}};

TEST(style, text_has_the_contrast_of_level_aa_in_every_palette) {
    for (const std::string_view opening : {"", "@media (prefers-color-scheme: dark)", "@media print"}) {
        palette colours = colours_after(html_style(), opening);
        for (const auto& [text, ground] : text_on_ground) {
            ASSERT_TRUE(colours.contains(text) && colours.contains(ground)) << opening << text << ground;
            EXPECT_GE(contrast(colours[text], colours[ground]), 4.5) << opening << ' ' << text << " on " << ground;
        }
        EXPECT_GE(contrast(colours["edge"], colours["page"]), 3.0) << opening << " edges of bars";
    }
}

TEST(style, a_grey_print_tells_ours_from_the_others) {
    for (const std::string_view opening : {"", "@media (prefers-color-scheme: dark)", "@media print"}) {
        palette colours = colours_after(html_style(), opening);
        EXPECT_GE(contrast(colours["ours"], colours["peer"]), 3.0) << opening;
    }
}

TEST(style, the_three_palettes_set_the_same_colours) {
    const palette light = colours_after(html_style(), "");
    const palette dark = colours_after(html_style(), "@media (prefers-color-scheme: dark)");
    const palette print = colours_after(html_style(), "@media print");
    ASSERT_GT(light.size(), 10U);
    for (const auto& [name, colour] : light) {
        EXPECT_TRUE(dark.contains(name)) << name;
        EXPECT_TRUE(print.contains(name)) << name;
    }
}

}

}
