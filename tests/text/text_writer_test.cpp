// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/text_writer.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/reports.hpp"
#include "text/printed.hpp"

namespace {

using tenure::text_writer;

template<class T>
concept appended = requires(text_writer& to, T value) {
    to.append(value);
};
enum letters { first_letter };
enum class scoped : char { first };
static_assert(appended<char> && appended<const char*> && appended<std::string> && appended<unsigned short>);
static_assert(!appended<bool> && !appended<float> && !appended<double> && !appended<letters> && !appended<scoped>);
static_assert(!appended<wchar_t> && !appended<char8_t> && !appended<void*>);

template<class Write>
std::string written(Write&& write) {
    std::array<char, 256> memory;
    text_writer to(memory);
    write(to);
    EXPECT_TRUE(to.fits());
    EXPECT_EQ(to.needed_bytes(), to.size_bytes());
    return std::string(to.text());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/// With a format that the compiler does not see.
template<class... Values>
text_writer& append_hidden(text_writer& to, const char* format, Values... values) {
    return to.append_printf(format, values...);
}
#pragma GCC diagnostic pop

TEST(text_writers, begin_empty_and_need_no_memory_for_nothing) {
    text_writer to(nullptr, 0);
    EXPECT_TRUE(to.fits());
    EXPECT_EQ(to.text(), "");
    to.append("").append(std::string_view{});
    EXPECT_TRUE(to.fits());
    to.append('x').append("yz").append(5).append_fixed<2>(1.0f);
    EXPECT_FALSE(to.fits());
    EXPECT_EQ(to.needed_bytes(), 8u);
    EXPECT_EQ(to.text(), "");
}

TEST(text_writers, put_one_behind_the_other) {
    EXPECT_EQ(written([](text_writer& to) {
                  to.append('<').append("width").append('=').append(640).append("> ").append_fixed<2>(1.005f);
                  to.append(' ').append_fixed(-2.5, 0).append(' ').append_choice(true, "yes", "no").append('\n');
              }),
              "<width=640> 1.00 -2 yes\n"); // 1.005f is 1.00499..., and -2.5 is as near to -2 as to -3
}

TEST(text_writers, take_every_integer_as_a_number_and_a_char_as_a_letter) {
    EXPECT_EQ(written([](text_writer& to) {
                  to.append(std::int8_t{-100}).append(',').append(std::uint8_t{65}).append(',');
                  to.append(std::int16_t{-32768}).append(',').append(std::uint16_t{65535}).append(',');
                  to.append(INT32_MIN).append(',').append(UINT32_MAX).append(',');
                  to.append(INT64_MIN).append(',').append(UINT64_MAX).append(',').append('A');
              }),
              "-100,65,-32768,65535,-2147483648,4294967295,-9223372036854775808,18446744073709551615,A");
}

TEST(text_writers, give_their_room_to_whoever_writes_by_himself) {
    EXPECT_EQ(written([](text_writer& to) {
                  to.append("0x");
                  const auto room = to.room();
                  to.advance(static_cast<std::size_t>(std::snprintf(room.data(), room.size(), "%x", 0xBEEFu)));
                  to.append('!');
              }),
              "0xbeef!");
}

TEST(text_writers, write_a_call_whole_or_not_at_all_and_nothing_after_it) {
    std::array<char, 64> memory;
    memory.fill('#');
    text_writer to(memory.data(), 10);
    to.append("12345678").append(999).append('x').append("");
    EXPECT_FALSE(to.fits());
    EXPECT_EQ(to.text(), "12345678");
    EXPECT_EQ(to.needed_bytes(), 12u);
    EXPECT_EQ(to.room_bytes(), 0u);
    for (std::size_t byte = 8; byte < memory.size(); ++byte) EXPECT_EQ(memory[byte], '#');
}

TEST(text_writers, count_what_they_would_need_at_every_size_and_never_leave_it) {
    const auto write = [](text_writer& to) {
        to.append('y').append_fixed<2>(-12.345f).append(',').append(-70000).append(',').append(UINT64_MAX);
        to.append(",some words,").append_fixed<6>(3.14159265358979).append_fixed(1e300, 3).append(7u);
    };
    std::array<char, 512> whole;
    text_writer measured(whole);
    write(measured);
    ASSERT_TRUE(measured.fits());
    for (std::size_t room = 0; room <= measured.size_bytes() + 20; ++room) {
        std::array<char, 512> memory;
        memory.fill('#');
        text_writer to(memory.data(), room);
        write(to);
        ASSERT_EQ(to.needed_bytes(), measured.size_bytes());
        ASSERT_EQ(to.fits(), room >= measured.size_bytes());
        ASSERT_EQ(to.text(), measured.text().substr(0, to.size_bytes()));
        for (std::size_t byte = room; byte < memory.size(); ++byte) ASSERT_EQ(memory[byte], '#') << room;
    }
}

TEST(text_writers, agree_with_printf_about_records_of_any_numbers) {
    const std::uint64_t seed = support::new_seed();
    support::random random(seed);
    std::array<char, 512> room;
    for (int count = 0; count < 100'000; ++count) {
        const bool flag = random.one_in(2);
        const auto real = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
        const auto number = static_cast<std::int32_t>(random.next()) >> random.below(32);
        const std::uint64_t large = random.next() >> random.below(64);
        text_writer to(room);
        to.append(flag ? 'y' : 'n').append_fixed<2>(real).append(',').append(number).append(',').append(large);
        char right[512];
        const std::string printed(text_tests::printed(static_cast<double>(real), 2).view());
        std::snprintf(right, sizeof right, "%s%s,%d,%llu", flag ? "y" : "n", printed.c_str(), number,
                      static_cast<unsigned long long>(large));
        ASSERT_EQ(to.text(), right) << "the seed was " << seed;
    }
}

TEST(text_writers, append_what_printf_writes) {
    EXPECT_EQ(written([](text_writer& to) { to.append('<').append_printf("%-4d|%.1f%%", 12, 2.25).append('>'); }),
              "<12  |2.2%>");
    char memory[8];
    std::memset(memory, '#', sizeof memory);
    text_writer to(memory, 7);
    to.append_printf("%s", "seven!!"); // needs no byte for a zero
    EXPECT_EQ(to.text(), "seven!!");
    EXPECT_EQ(memory[7], '#');
    text_writer shorter(memory, 7);
    shorter.append("abc").append_printf("%d", 12345).append("d");
    EXPECT_EQ(shorter.text(), "abc");
    EXPECT_EQ(shorter.needed_bytes(), 9u);
}

TEST(text_writers, append_nothing_for_a_refused_format) {
    const support::heard_reports heard;
    const char* const format = "a%"; // the compiler does not see it
    EXPECT_EQ(written([&](text_writer& to) { append_hidden(to.append('<'), format, 1).append('>'); }), "<>");
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
}

}
