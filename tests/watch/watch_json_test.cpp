// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_json.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "watch/checks.hpp"
#include "watch/sample_findings.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::json;

TEST(watch_json, the_file_is_as_it_was) { expect_watch_snapshot("watch.json", to_json(sample::two_regions())); }

TEST(watch_json, nothing_found_is_still_a_file) {
    const json read = json::parse(to_json(findings{}));
    EXPECT_EQ(read["format"], watch_format);
    EXPECT_TRUE(read["processes"].empty() && read["regions"].empty() && read["frames"].empty());
}

TEST(watch_json, a_stack_is_places_in_the_list_of_frames) {
    const json read = json::parse(to_json(sample::two_regions()));
    const json& site = read["regions"][0]["sites"][0];
    const json& blamed = read["frames"][site["stack"][site["blamed"].get<std::size_t>()].get<std::size_t>()];
    EXPECT_EQ(blamed["function"], "draw(int)");
    EXPECT_EQ(blamed["file"], "/src/draw.cpp");
    EXPECT_EQ(blamed["line"], 41);
    EXPECT_EQ(site["where"]["function"], "draw(int)");
    EXPECT_EQ(read["frames"].size(), 7U) << "each once, although sites and stacks go through them";
}

TEST(watch_json, kinds_are_words) {
    const json read = json::parse(to_json(sample::two_regions()));
    EXPECT_EQ(read["regions"][0]["kind"], "openmp");
    EXPECT_EQ(read["processes"][1]["end"], "none_seen");
    EXPECT_EQ(read["processes"][1]["signal"], 11);
    EXPECT_EQ(read["regions"][0]["sites"][1]["group"], "allocation");
    EXPECT_EQ(read["regions"][0]["sites"][1]["call"], "operator new");
}

TEST(watch_json, every_wait_of_the_timeline_is_there) {
    const json read = json::parse(to_json(sample::with_waits(60'000)));
    std::size_t waits = 0;
    for (const json& thread : read["regions"][0]["timeline"]) waits += thread["waits"].size();
    EXPECT_EQ(waits, 60'000U);
}

TEST(watch_json, text_that_is_no_utf8_does_not_stop_it) {
    const std::string nasty = "\xFF\"\\\n\x01";
    EXPECT_NO_THROW({
        const json read = json::parse(to_json(sample::of_text(nasty)));
        EXPECT_EQ(read["notices"][0], "\uFFFD\"\\\n\x01");
    });
}

TEST(watch_json, numbers_that_are_none_are_null) {
    findings found = sample::two_regions();
    found.regions[0].span_ns = std::numeric_limits<double>::quiet_NaN();
    found.regions[0].kernel.asked_share = std::numeric_limits<double>::infinity();
    found.regions[0].longest_ns = 1e300;
    found.regions[0].kind = static_cast<hook::region_kind>(77);
    const json read = json::parse(to_json(found));
    EXPECT_TRUE(read["regions"][0]["span_ns"].is_null());
    EXPECT_TRUE(read["regions"][0]["kernel"]["asked_share"].is_null());
    EXPECT_TRUE(read["regions"][0]["longest_ns"].is_number_integer());
    EXPECT_EQ(read["regions"][0]["kind"], "unknown");
}

TEST(watch_json, a_site_without_a_stack_is_nowhere) {
    findings found = sample::two_regions();
    found.regions[0].sites[0].stack.clear();
    found.regions[0].sites[0].blamed = 0;
    EXPECT_TRUE(json::parse(to_json(found))["regions"][0]["sites"][0]["where"].is_null());
}

}

}
