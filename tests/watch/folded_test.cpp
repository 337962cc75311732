// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/folded.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "observe/watch/blame.hpp"
#include "watch/checks.hpp"
#include "watch/sample_findings.hpp"

namespace tenure::lab {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(folded, the_file_is_as_it_was) {
    expect_watch_snapshot("watch.folded", to_folded(sample::two_regions()));
    expect_watch_snapshot("watch_counts.folded", to_folded(sample::two_regions(), folded_value::count));
}

TEST(folded, nothing_found_is_an_empty_file) { EXPECT_EQ(to_folded(findings{}), ""); }

TEST(folded, values_are_what_the_sites_cost) {
    const findings found = sample::two_regions();
    double cost = 0;
    for (const watched_site& each : found.regions[0].stacks) cost += cost_of(each);
    double sum = 0;
    for (const std::string& line : lines_of(to_folded(found))) sum += std::stod(line.substr(line.rfind(' ')));
    EXPECT_NEAR(sum, cost, 2);
}

TEST(folded, names_hold_nothing_that_separates_them) {
    const findings found = sample::of_text("a;b\nc\td\x01\x7f e");
    const std::regex line_form("[^;]+(;[^;]+)+ [0-9]+"); // as flamegraph.pl reads it
    for (const std::string& line : lines_of(to_folded(found, folded_value::count))) {
        EXPECT_TRUE(std::regex_match(line, line_form)) << line;
        EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char letter) { return letter >= ' '; })) << line;
        EXPECT_LE(std::count(line.begin(), line.end(), ';'), 4) << line;
    }
}

TEST(folded, stacks_that_read_the_same_are_one_line) {
    findings found = sample::two_regions();
    std::vector<watched_site>& stacks = found.regions[0].stacks;
    const std::size_t before = lines_of(to_folded(found)).size();
    stacks.push_back(stacks[0]);
    stacks.back().stack[1].line = 99;
    stacks.back().stack[1].offset = 0x4444;
    const std::string text = to_folded(found);
    EXPECT_EQ(lines_of(text).size(), before);
    EXPECT_TRUE(holds(text, " 6000000\n"));
}

TEST(folded, a_region_says_its_process_where_there_are_several) {
    findings found = sample::two_regions();
    EXPECT_TRUE(holds(to_folded(found), "(process 100);"));
    found.regions.pop_back();
    EXPECT_FALSE(holds(to_folded(found), "(process"));
}

TEST(folded, what_costs_nothing_has_no_line) {
    findings found = sample::two_regions();
    for (watched_site& each : found.regions[0].stacks) each.ns = each.wait_ns = 0;
    EXPECT_EQ(to_folded(found), "") << "a cost below zero is none";
    EXPECT_EQ(lines_of(to_folded(found, folded_value::count)).size(), 3U);
}

}

}
