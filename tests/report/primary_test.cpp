// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/primary.hpp"

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/json/json.hpp"

namespace tenure::lab {

namespace {

TEST(primary, a_pattern_without_a_star_is_the_name_itself) {
    EXPECT_TRUE(matches("alloc", "alloc"));
    EXPECT_FALSE(matches("alloc", "alloc 2"));
    EXPECT_FALSE(matches("alloc", "allo"));
    EXPECT_TRUE(matches("", ""));
    EXPECT_FALSE(matches("", "warm"));
}

TEST(primary, a_star_stands_for_any_letters_or_none) {
    for (const std::string_view pattern : {"*", "64 B*", "*order", "*, *", "64*in*er", "64 B, in order*", "**r**"}) {
        EXPECT_TRUE(matches(pattern, "64 B, in order")) << pattern;
    }
    for (const std::string_view pattern : {"8 B*", "*random", "64*64*", "*orde", "64 B, in order*r"}) {
        EXPECT_FALSE(matches(pattern, "64 B, in order")) << pattern;
    }
    EXPECT_TRUE(matches("*ab", "aab")) << "it gives back what it took too early";
}

TEST(primary, a_figure_is_primary_when_metric_and_variant_match_one_pattern) {
    experiment_result found;
    EXPECT_FALSE(is_primary(found, "alloc", "warm")) << "none was declared";
    found.primary = {{"alloc", "warm"}, {"p99*"}};
    EXPECT_TRUE(is_primary(found, "alloc", "warm"));
    EXPECT_FALSE(is_primary(found, "alloc", "cold"));
    EXPECT_TRUE(is_primary(found, "p99.9", "free, two threads"));
}

TEST(primary, a_pattern_that_nothing_matches_is_named) {
    experiment_result found = fixture::small_result().experiments[0];
    EXPECT_TRUE(unmatched_primary(found).empty());
    found.primary.push_back({"aloc", "warm"});
    ASSERT_EQ(unmatched_primary(found).size(), 1U);
    EXPECT_EQ(unmatched_primary(found)[0].metric, "aloc");
}

TEST(primary, the_json_has_the_patterns_and_marks_the_figures) {
    const result found = fixture::small_result();
    const std::string text = to_json(found);
    EXPECT_NE(text.find("\"primary\": true"), std::string::npos);
    const result back = parse_json(text).value;
    ASSERT_EQ(back.experiments[0].primary.size(), 2U);
    EXPECT_EQ(back.experiments[0].primary[0].metric, "alloc");
    EXPECT_EQ(back.experiments[0].primary[0].variant, "*");
    EXPECT_TRUE(back.experiments[1].primary.empty());
}

TEST(primary, a_pattern_without_a_variant_means_every_variant) {
    const loaded_result loaded = parse_json(R"({"format":1,"experiments":[{"primary":[{"metric":"alloc"}]}]})");
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    EXPECT_TRUE(is_primary(loaded.value.experiments[0], "alloc", "warm"));
}

}

}
