// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/analysis/quotients.hpp"

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/html/html.hpp"
#include "report/json/json.hpp"

namespace tenure::lab {

namespace {

TEST(quotients, one_over_the_other_is_the_median_of_the_rounds_that_both_have) {
    const result found = fixture::small_result();
    const std::vector<quotient_row> rows = quotients_of(found.experiments[0]);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].figure, "alloc, warm");
    ASSERT_EQ(rows[0].all.size(), 2U);
    EXPECT_EQ(rows[0].all[0].count, 2U) << "the third round of one failed";
    EXPECT_DOUBLE_EQ(rows[0].all[0].median, 0.25);
    EXPECT_EQ(rows[1].figure, "free, warm");
    EXPECT_DOUBLE_EQ(rows[1].all[0].median, 0.004);
    EXPECT_EQ(rows[2].figure, "alloc, cold");
    EXPECT_DOUBLE_EQ(rows[2].all[0].median, 3.5 / 36.0);
}

TEST(quotients, who_was_not_measured_leaves_a_gap) {
    const result found = fixture::small_result();
    for (const quotient_row& row : quotients_of(found.experiments[0])) EXPECT_EQ(row.all[1].count, 0U) << row.figure;
}

TEST(quotients, an_experiment_that_asks_for_none_has_none) {
    const result found = fixture::small_result();
    EXPECT_TRUE(quotients_of(found.experiments[1]).empty());
    result other = found;
    other.experiments[0].quotients = {{"neither", "HPHA", "nobody"}};
    EXPECT_TRUE(quotients_of(other.experiments[0]).empty());
}

TEST(quotients, a_file_brings_them_back) {
    const result back = parse_json(to_json(fixture::small_result())).value;
    ASSERT_EQ(back.experiments[0].quotients.size(), 2U);
    EXPECT_EQ(back.experiments[0].quotients[1].title, "bump/HPHA");
    EXPECT_EQ(back.experiments[0].quotients[1].over, "trivial bump");
    EXPECT_EQ(back.experiments[0].quotients[1].under, "HPHA");
}

TEST(quotients, the_page_shows_them) {
    EXPECT_NE(to_html(fixture::small_result()).find("temp/glibc"), std::string::npos);
}

}

}
