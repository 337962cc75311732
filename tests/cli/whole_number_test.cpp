// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/arguments/whole_number.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

std::string refusal_of(std::string text, std::int64_t lowest, std::int64_t highest) {
    return whole_number(lowest, highest)(text);
}

/// What the option gets.
std::string taken(std::string text) {
    EXPECT_EQ(whole_number(-100, 100)(text), "");
    return text;
}

TEST(whole_number, takes_what_is_in_the_range) {
    for (const char* text : {"0", "7", "100"}) EXPECT_EQ(refusal_of(text, 0, 100), "") << text;
    EXPECT_EQ(refusal_of("-3", -3, 0), "");
}

TEST(whole_number, a_refusal_names_the_range) {
    for (const char* text : {"-1", "101", "99999999999999999999", "-99999999999999999999", "18446744073709551615", "",
                             "1.5", "1e3", "0x10", "+1", " 1", "1 ", "one"}) {
        EXPECT_EQ(refusal_of(text, 0, 100), "\"" + std::string{text} + "\" is not a whole number from 0 to 100");
    }
}

TEST(whole_number, zeros_in_front_are_no_octal) {
    EXPECT_EQ(taken("010"), "10");
    EXPECT_EQ(taken("-010"), "-10");
    EXPECT_EQ(taken("000"), "0");
}

}

}
