// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_text.hpp"

#include <gtest/gtest.h>

#include "observe/watch/report/figures.hpp"
#include "watch/checks.hpp"
#include "watch/sample_findings.hpp"

namespace tenure::lab {

namespace {

TEST(watch_text, the_table_is_as_it_was) { expect_watch_snapshot("watch.txt", to_text(sample::two_regions(), {})); }

TEST(watch_text, shows_no_more_than_it_is_asked_for) {
    const std::string text = to_text(sample::two_regions(), {.sites = 1, .regions = 1});
    EXPECT_TRUE(holds(text, "more regions")) << text;
    EXPECT_TRUE(holds(text, "more places")) << text;
}

TEST(watch_text, says_so_when_there_is_no_region) {
    EXPECT_TRUE(holds(to_text(findings{}, {}), "No parallel region was seen"));
}

TEST(watch_text, times_have_three_digits_and_a_unit) {
    EXPECT_EQ(time_text(0), "0 ns");
    EXPECT_EQ(time_text(999), "999 ns");
    EXPECT_EQ(time_text(1250), "1.25 µs");
    EXPECT_EQ(time_text(12'500'000), "12.5 ms");
    EXPECT_EQ(time_text(125e9), "125 s");
    EXPECT_EQ(time_text(1.5e12), "1,500 s");
}

}

}
