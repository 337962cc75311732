// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/fixed_utf8_string.hpp>

#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace {

using namespace std::string_view_literals;
using tenure::fixed_utf8_string;
using tenure::is_utf8;
using tenure::status;

/// By the definition: decode each code point, and see whether it would be written in so many bytes.
[[nodiscard]] bool is_utf8_by_definition(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const std::size_t bytes = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
        if (bytes == 0 || at + bytes > text.size()) return false;
        std::uint32_t point = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
        for (std::size_t more = 1; more < bytes; ++more) {
            const auto next = static_cast<unsigned char>(text[at + more]);
            if ((next & 0xC0) != 0x80) return false;
            point = point << 6 | (next & 0x3F);
        }
        const std::size_t needed = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1'0000 ? 3 : 4;
        if (needed != bytes || point > 0x10'FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
        at += bytes;
    }
    return true;
}

TEST(utf8, every_sequence_of_up_to_three_bytes_is_judged_as_defined) {
    for (std::uint32_t bytes = 0; bytes < 0x100'0000; bytes += bytes < 0x80'0000 ? 7 : 1) {
        const char three[3] = {static_cast<char>(bytes >> 16), static_cast<char>(bytes >> 8), static_cast<char>(bytes)};
        const std::string_view text(three, 3);
        ASSERT_EQ(is_utf8(text), is_utf8_by_definition(text)) << std::hex << bytes;
    }
}

TEST(utf8, random_texts_with_ascii_around_are_judged_as_defined) {
    const std::uint64_t seed = support::new_seed();
    SCOPED_TRACE(seed);
    support::random random(seed);
    constexpr std::string_view pieces[] = {"a",
                                           "longer ascii text",
                                           "\xC3\xA9",
                                           "\xE2\x82\xAC",
                                           "\xF0\x9F\x98\x80",
                                           "\xED\xA0\x80",
                                           "\xF4\x90\x80\x80",
                                           "\xC0\x80",
                                           "\x80",
                                           "\xF0\x9F\x98"};
    int valid = 0;
    for (int round = 0; round < 100'000; ++round) {
        std::string text;
        for (std::size_t count = random.below(6); count != 0; --count) {
            const bool is_good = random.below(4) != 0;
            text += pieces[is_good ? random.below(5) : random.below(10)];
        }
        const bool expected = is_utf8_by_definition(text);
        ASSERT_EQ(is_utf8(text), expected) << testing::PrintToString(text);
        valid += expected;
    }
    EXPECT_GT(valid, 10'000);
}

TEST(fixed_utf8_string, is_a_copy_of_what_it_was_made_of_with_a_zero_behind) {
    std::string text = "na\xC3\xAFve \xE2\x82\xAC";
    const auto made = fixed_utf8_string::make(text);
    text.assign(text.size(), '?');
    EXPECT_EQ(made, "na\xC3\xAFve \xE2\x82\xAC"sv);
    EXPECT_EQ(made.size_bytes(), 10u);
    EXPECT_EQ(made.length(), 7u);
    EXPECT_EQ(std::strlen(made.view().data()), 10u);
    EXPECT_EQ(made.deallocate(), status::ok);
    EXPECT_FALSE(made.is_live());
}

TEST(fixed_utf8_string, what_is_no_utf8_is_refused) {
    status why = status::ok;
    EXPECT_FALSE(fixed_utf8_string::make("\xC3", &why).is_live());
    EXPECT_EQ(why, status::invalid_argument);
    const auto good = fixed_utf8_string::make("", &why);
    EXPECT_EQ(why, status::ok);
    EXPECT_TRUE(good.is_live());
    EXPECT_TRUE(good.empty());
    EXPECT_EQ(good.deallocate(), status::ok);
}

TEST(fixed_utf8_string, a_default_one_is_empty_text_and_not_live) {
    const fixed_utf8_string none;
    EXPECT_FALSE(none.is_live());
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.view(), ""sv);
    EXPECT_EQ(none.length(), 0u);
    EXPECT_EQ(none, fixed_utf8_string{});
    EXPECT_EQ(none.index_of("a"), fixed_utf8_string::npos);
    EXPECT_EQ(none.deallocate(), status::stale_handle);
}

TEST(fixed_utf8_string, is_searched_compared_and_hashed_as_its_bytes) {
    const auto made = fixed_utf8_string::make("one two one");
    EXPECT_EQ(made.index_of("one"), 0u);
    EXPECT_EQ(made.index_of("one", 1), 8u);
    EXPECT_EQ(made.last_index_of("one"), 8u);
    EXPECT_EQ(made.index_of("three"), fixed_utf8_string::npos);
    EXPECT_EQ(made.index_of(""), 0u);
    EXPECT_TRUE(made.starts_with("one two"));
    EXPECT_TRUE(made.ends_with("one"));
    const auto same = fixed_utf8_string::make("one two one");
    const auto other = fixed_utf8_string::make("one two onf");
    EXPECT_EQ(made, same);
    EXPECT_EQ(made.hash(), same.hash());
    EXPECT_NE(made.hash(), other.hash());
    EXPECT_LT(made, other);
    EXPECT_GT(made, "one"sv);
    for (const auto& each : {made, same, other}) EXPECT_EQ(each.deallocate(), status::ok);
}

TEST(fixed_utf8_string, parts_are_the_same_memory_between_code_points) {
    const auto made = fixed_utf8_string::make("a\xC3\xA9z");
    const auto part = made.substring(1, 2);
    EXPECT_EQ(part, "\xC3\xA9"sv);
    EXPECT_EQ(part.view().data(), made.view().data() + 1);
    EXPECT_EQ(made.substring(3), "z"sv);
    EXPECT_EQ(made.substring(4), ""sv);
    EXPECT_TRUE(made.substring(4).is_live());
    EXPECT_FALSE(made.substring(2).is_live());
    EXPECT_FALSE(made.substring(0, 2).is_live());
    EXPECT_FALSE(made.substring(5).is_live());
    EXPECT_FALSE(made.substring(1, 10).is_live());
    EXPECT_EQ(made.deallocate(), status::ok);
    EXPECT_FALSE(part.is_live());
}

}
