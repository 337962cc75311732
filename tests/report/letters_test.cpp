// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/letters.hpp"

#include <gtest/gtest.h>

namespace tenure::lab {

namespace {

TEST(letters, of_control_characters_blanks_are_left) {
    EXPECT_EQ(printable("red \x1b[31mname\x1b[0m"), "red  [31mname [0m");
    EXPECT_EQ(printable("one\ntwo\ttabs\rback\x7f"), "one two tabs back ");
    EXPECT_EQ(printable(std::string_view("\0a", 2)), " a");
    EXPECT_EQ(printable("\xC2\x9B"
                        "31m"),
              " 31m")
        << "U+009B begins a sequence as well";
    EXPECT_EQ(printable("\x9B"
                        "31m"),
              " 31m")
        << "and so does the byte alone";
}

TEST(letters, an_elided_text_keeps_both_ends) {
    EXPECT_EQ(elided("loop at -O2", 11), "loop at -O2");
    EXPECT_EQ(elided("abcdefghij", 7), "abc…hij");
    EXPECT_EQ(elided("abcdefghij", 6), "abc…ij");
    EXPECT_EQ(elided("äöüßäöüß", 5), "äö…üß") << "letters of two bytes stay whole";
    EXPECT_EQ(elided("abc", 1), "…");
    EXPECT_EQ(columns_of(elided("pool (null mutex)", 9)), 9u);
    EXPECT_NE(elided("boost::fast_pool_allocator", 20), elided("boost::fast_pool_allocator (null mutex)", 20));
}

TEST(letters, marks_that_turn_the_direction_of_a_text_are_control_characters) {
    for (const char* text : {"\u202A", "\u202E", "\u2066", "\u2069"}) EXPECT_EQ(printable(text), " ");
    for (const char* text : {"\u2029", "\u202F", "\u2065", "\u206A", "\u2026"}) EXPECT_EQ(printable(text), text);
}

TEST(letters, what_can_be_printed_stays) {
    for (const char* text : {"", "plain", "0.5 µs · größer", "…", "\xF0\x9F\x90\x98", "\xC2\xA0"}) {
        EXPECT_EQ(printable(text), text);
    }
    EXPECT_EQ(printable("\xC3\x9B"), "\xC3\x9B") << "a letter whose second byte is 0x9B";
}

TEST(letters, longer_forms_of_short_letters_are_none) {
    EXPECT_EQ(printable("\xE0\x80\x9B"), "\xE0  ") << "an escape of three bytes";
    EXPECT_EQ(printable("\xC0\x9B"), "\xC0 ");
    EXPECT_EQ(printable("\xF0\x80\x80\x9B"), "\xF0   ");
    EXPECT_EQ(printable("\xE2\x80"), "\xE2 ") << "cut off";
}

}

}
