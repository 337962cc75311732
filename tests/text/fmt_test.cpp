// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/fmt.hpp>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "text/counted_malloc.hpp"

namespace {

using tenure::text_writer;

TEST(fmt_writing, appends_what_fmt_writes) {
    char memory[64];
    text_writer to(memory);
    tenure::format_to(to.append('<'), "{:>4}|{:.1f}|{}", 12, 2.25, "text").append('>');
    EXPECT_EQ(to.text(), "<  12|2.2|text>");
    EXPECT_TRUE(to.fits());
    std::string name = "lvalue";
    EXPECT_EQ(tenure::format_to(to, " {}", name).text(), "<  12|2.2|text> lvalue");
}

TEST(fmt_writing, appends_nothing_that_does_not_fit_and_counts_it) {
    char memory[6];
    std::memset(memory, '#', sizeof memory);
    text_writer to(memory, 4);
    tenure::format_to(to, "{}", 12345).append('x');
    EXPECT_EQ(to.text(), "");
    EXPECT_EQ(to.needed_bytes(), 6u);
    EXPECT_EQ(memory[4], '#');
    text_writer exact(memory, 4);
    EXPECT_EQ(tenure::format_to(exact, "{}{}", "ab", 34).text(), "ab34");
    EXPECT_TRUE(exact.fits());
    EXPECT_EQ(tenure::format_to(exact, "{}", "").needed_bytes(), 4u);
}

TEST(fmt_writing, allocates_nothing) {
    const auto before = text_tests::malloc_calls();
    if (!before.has_value()) GTEST_SKIP() << "malloc is the sanitizer's";
    char memory[600];
    text_writer to(memory);
    tenure::format_to(to, "{}{:.2f}{}{:e}{:>300}", 1, 2.5, "text", 1e300, true);
    EXPECT_EQ(text_tests::malloc_calls(), before);
    EXPECT_TRUE(to.fits());
}

}
