// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/numbers.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

TEST(numbers, values_have_three_digits_and_grouped_thousands) {
    EXPECT_EQ(value_text(0.041), "0.041");
    EXPECT_EQ(value_text(1.05), "1.05");
    EXPECT_EQ(value_text(11.44), "11.4");
    EXPECT_EQ(value_text(329.4), "329");
    EXPECT_EQ(value_text(456000.4), "456,000");
    EXPECT_EQ(value_text(0), "0");
    EXPECT_EQ(value_text(-28.0), "−28.0");
}

TEST(numbers, values_round_up_into_the_next_form) {
    EXPECT_EQ(value_text(9.999), "10.0");
    EXPECT_EQ(value_text(99.99), "100");
    EXPECT_EQ(value_text(999.6), "1,000");
}

TEST(numbers, values_too_small_or_too_large_have_exponents) {
    EXPECT_EQ(value_text(0.000012), "1.2e-05");
    EXPECT_EQ(value_text(3.2e18), "3.20e+18");
}

TEST(numbers, what_is_no_number_is_a_dash) {
    EXPECT_EQ(value_text(std::nan("")), "–");
    EXPECT_EQ(ratio_text(std::nan("")), "–");
    EXPECT_EQ(spread_text(summarize({})), "–");
    EXPECT_EQ(value_text(-std::numeric_limits<double>::infinity()), "−∞");
}

TEST(numbers, ratios_keep_two_digits) {
    EXPECT_EQ(ratio_text(0.4), "×0.40");
    EXPECT_EQ(ratio_text(0.0387), "×0.039");
    EXPECT_EQ(ratio_text(14.16), "×14.2");
    EXPECT_EQ(ratio_text(1234.0), "×1,234");
}

TEST(numbers, a_spread_of_one_value_is_that_value) {
    EXPECT_EQ(spread_text({1, 1.02, 1.1, 3}), "1.02–1.10");
    EXPECT_EQ(spread_text({4, 4.0, 4.0, 3}), "4.00");
}

TEST(numbers, facts_are_whole_and_have_a_spread_only_where_rounds_disagree) {
    EXPECT_EQ(fact_text({819, 819, 819, 7}), "819");
    EXPECT_EQ(fact_text({819, 817, 820.5, 7}), "819 (817–820)");
    EXPECT_EQ(fact_text({7.123, 7.01, 7.3, 7}), "7.12 (7.01–7.30)");
    EXPECT_EQ(fact_text({-139188, -4818868, -118707, 7}), "−139,188 (−4,818,868 to −118,707)");
    EXPECT_EQ(fact_text(summarize({})), "–");
}

TEST(numbers, the_smallest_integer_has_its_magnitude) {
    EXPECT_EQ(integer_text(std::numeric_limits<std::int64_t>::min()), "−9,223,372,036,854,775,808");
    EXPECT_EQ(integer_text(140685055869340), "140,685,055,869,340");
    EXPECT_EQ(integer_text(-28), "−28");
}

TEST(numbers, an_axis_has_short_ones) {
    EXPECT_EQ(short_text(0), "0");
    EXPECT_EQ(short_text(0.5), "0.5");
    EXPECT_EQ(short_text(-8'400'000), "−8.4M");
    EXPECT_EQ(short_text(999'999), "1M");
    EXPECT_EQ(short_text(140685055869340.0), "141T");
}

TEST(numbers, almost_all_is_not_all) {
    EXPECT_EQ(share_text(999, 999), "100 %");
    EXPECT_EQ(share_text(9999, 10000), "> 99.9 %");
    EXPECT_EQ(share_text(1, 10000), "< 0.1 %");
    EXPECT_EQ(share_text(1, 1000), "0.1 %");
    EXPECT_EQ(share_text(0, 10000), "0 %");
    EXPECT_EQ(share_text(0.0004), "< 0.1 %");
    EXPECT_EQ(share_text(0.0044), "0.4 %");
    EXPECT_EQ(share_text(818, 999), "82 %");
    EXPECT_EQ(share_text(0, 0), "–");
}

TEST(numbers, nouns_agree_with_their_count) {
    EXPECT_EQ(count_text(1, "round"), "1 round");
    EXPECT_EQ(count_text(0, "round"), "0 rounds");
    EXPECT_EQ(count_text(5'000'000, "object"), "5,000,000 objects");
}

TEST(numbers, exact_numbers_read_back_as_themselves) {
    for (const double value : {0.1, 1.0 / 3.0, 1e300, -7.342800454491235, 5e-324}) {
        const std::string text = exact_text(value);
        double back = 0;
        std::from_chars(text.data(), text.data() + text.size(), back);
        EXPECT_EQ(back, value) << text;
    }
    EXPECT_EQ(exact_text(std::nan("")), "nan");
}

}

}
