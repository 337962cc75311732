// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/usage_chart.hpp"

#include <gtest/gtest.h>

#include "report/page_check.hpp"

namespace tenure::lab {

namespace {

/// 50 of 40 MiB in frame 8, refused in frame 9; the second tag has no budget.
constexpr std::string_view log_text = R"({"format": "tenure frame usage", "version": 1, "frames": [7, 8, 9], "tags": [
{"name": "a <b> & c", "limit_bytes": 62914560, "threshold_bytes": 41943040,
 "persistent_bytes": [1048576, 52428800, 1048576], "temp_job_bytes": [0, 0, 0], "temp_bytes": [0, 0, 0],
 "refusals": [0, 0, 2]},
{"name": "physics", "persistent_bytes": [9, 9, 9], "temp_job_bytes": [0, 0, 0], "temp_bytes": [1, 2, 3],
 "refusals": [0, 0, 0]}]})";

TEST(usage_chart, marks_the_frames_that_exceed_a_budget) {
    const frame_usages log = parse_usage(log_text, "log");
    ASSERT_TRUE(log.ok()) << log.error;
    ASSERT_EQ(log.tags.size(), 2U);
    EXPECT_FALSE(log.tags[0].is_exceeded(0));
    EXPECT_TRUE(log.tags[0].is_exceeded(1)) << "over the threshold";
    EXPECT_TRUE(log.tags[0].is_exceeded(2)) << "refused";
    EXPECT_EQ(log.tags[1].exceeded_count(), 0U);
    const std::string picture = draw_usage(log, log.tags[0], "u");
    EXPECT_EQ(count_of(picture, "class=\"budget\""), 2U);
    EXPECT_EQ(count_of(picture, "class=\"clipped\""), 1U);
    EXPECT_EQ(count_of(picture, "class=\"rounds\""), 1U);
    EXPECT_EQ(count_of(draw_usage(log, log.tags[1], "v"), "class=\"budget\""), 0U);
}

TEST(usage_chart, draws_each_lifetime_that_the_tag_used) {
    frame_usages log = parse_usage(log_text, "log");
    const std::string loader = draw_usage(log, log.tags[0], "u");
    EXPECT_EQ(count_of(loader, "class=\"course"), 1U);
    EXPECT_EQ(count_of(loader, "TempJob"), 0U);
    log.tags[1].temp_job_bytes = {0, 7, 0};
    const std::string physics = draw_usage(log, log.tags[1], "v");
    EXPECT_EQ(count_of(physics, "class=\"course"), 3U);
    EXPECT_EQ(count_of(physics, "TempJob"), 1U);
    EXPECT_EQ(count_of(physics, "allocated from Temp in the frame"), 1U);
    log.tags[1].persistent_bytes = {0, 0, 0};
    EXPECT_EQ(count_of(usage_page(log, "log"), "<figure"), 2U) << "also a tag that used Temp alone";
}

TEST(usage_chart, makes_a_page_that_is_well_formed) {
    const std::string page = usage_page(parse_usage(log_text, "log"), "log <1>");
    EXPECT_EQ(faults_of(page), std::vector<std::string>{});
    EXPECT_EQ(count_of(page, "<figure"), 2U);
    EXPECT_EQ(count_of(page, "<b> &"), 0U) << "names are escaped";
    const frame_usages none =
        parse_usage(R"({"format": "tenure frame usage", "version": 1, "frames": [], "tags": []})", "none");
    EXPECT_EQ(faults_of(usage_page(none, "none")), std::vector<std::string>{});
}

TEST(usage_json, refuses_what_is_no_log_and_lists_of_another_length) {
    EXPECT_EQ(parse_usage("[]", "x").error, "x: is not a log of frame_usage_log::write()");
    EXPECT_FALSE(parse_usage("{\"format\": 3}", "x").ok());
    std::string text(log_text);
    text.replace(text.find("[9, 9, 9]"), 9, "[9, 9]");
    EXPECT_NE(parse_usage(text, "x").error.find("persistent_bytes: expected 3 values from 0"), std::string::npos)
        << parse_usage(text, "x").error;
    text = log_text;
    text.replace(text.find("[9, 9, 9]"), 9, "[-9, 9, 9]");
    EXPECT_FALSE(parse_usage(text, "x").ok());
}

}

}
