// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/format_printf.hpp>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/utf8_locale.hpp"
#include "text/counted_malloc.hpp"

// Formats are made at run time, and some of them are wrong on purpose.
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-overflow"

namespace {

using tenure::format_printf;
using long_limits = std::numeric_limits<long double>;

constexpr char untouched = '\x7E';

/// glibc 2.36 drops the zeros of "%#g" when rounding makes the number as large as 10 ^ precision. They belong there:
/// see zeros_of_an_alternative_form_are_kept.
bool leaves_zeros_out(std::string_view format, std::string_view text) {
    return format.find('#') != format.npos && format.find_first_of("gG") != format.npos &&
           (text.find("1.e+") != text.npos || text.find("1.E+") != text.npos);
}

/// Compares with the C library's snprintf, in a locale with UTF-8.
class printing : public testing::Test {
protected:
    printing() { RecordProperty("seed", std::to_string(seed_)); }
    ~printing() override { EXPECT_EQ(wrong_, 0u) << "the seed was " << seed_; }

    /// The text, the result, and that nothing is written behind the zero; in a room of any size.
    template<class... Values>
    void compare(std::size_t room, const char* format, Values... values) {
        const int right = std::snprintf(right_.data(), right_.size(), format, values...);
        ASSERT_GE(right, 0) << format;
        ASSERT_LT(static_cast<std::size_t>(right), right_.size()) << format;
        const auto whole = static_cast<std::size_t>(right) + 1;
        const std::size_t written = std::min(whole, room);
        std::memset(ours_.data(), untouched, std::max(whole, room) + margin);
        const int ours = format_printf(ours_.data(), room, format, values...);
        bool is_equal = ours == right;
        if (written != 0) {
            is_equal &= std::memcmp(ours_.data(), right_.data(), written - 1) == 0 && ours_[written - 1] == 0;
        }
        for (std::size_t byte = written; byte < std::max(whole, room) + margin; ++byte)
            is_equal &= ours_[byte] == untouched;
        if (is_equal || leaves_zeros_out(format, right_.data()) || ++wrong_ > 5)
            return; // a test of a million texts must not print a million lines
        ADD_FAILURE() << format << " into " << room << " bytes: " << ours << " \"" << ours_.data() << "\" instead of "
                      << right << " \"" << right_.data() << "\", seed " << seed_;
    }
    template<class... Values>
    void compare_all(const char* format, Values... values) {
        compare(right_.size(), format, values...);
    }

    std::size_t size_of_room() { return random_.one_in(4) ? random_.below(60) : 8000; }

    static constexpr std::size_t margin = 64;
    std::uint64_t seed_ = support::new_seed();
    support::random random_{seed_};

private:
    support::utf8_locale locale_;
    std::size_t wrong_ = 0;
    std::vector<char> right_ = std::vector<char>(25'000), ours_ = std::vector<char>(25'000 + margin);
};

/// A conversion without its length and letter.
std::string random_start(support::random& random) {
    std::string format = random.one_in(3) ? "a%" : "%";
    for (const char flag : {'-', '+', ' ', '#', '0', '\''})
        if (random.one_in(5)) format += flag;
    if (random.one_in(3)) format += std::to_string(1 + random.below(random.one_in(30) ? 3000 : 40));
    if (random.one_in(2)) {
        format += '.';
        const std::size_t limit = random.one_in(60) ? 5000 : random.one_in(6) ? 400 : 25;
        if (!random.one_in(6)) format += std::to_string(random.below(limit));
    }
    return format;
}

double random_double(support::random& random) {
    const std::uint64_t bits = random.next();
    switch (random.below(6)) {
    case 0: return std::bit_cast<double>(bits);                     // mostly huge and tiny
    case 1: return std::bit_cast<double>(bits >> random.below(64)); // also subnormal
    case 2: return static_cast<double>(static_cast<float>(random.below(1'000'000)) / 1000);
    case 3: return static_cast<double>(random.below(4000)) / 8 * (random.one_in(2) ? 1 : -1); // ties
    case 4: return random.one_in(3) ? 0.0 : random.one_in(2) ? -HUGE_VAL : static_cast<double>(NAN);
    default: return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -static_cast<int>(bits % 100));
    }
}

/// Any bits of x87's format, except those whose first bit should not be there: a subnormal exponent with the first bit
/// of a normal number. No processor makes them, and glibc writes other numbers for them with %f than with %a.
long double random_long_double(support::random& random) {
    if constexpr (long_limits::digits != 64) return static_cast<long double>(random_double(random));
    std::uint64_t mantissa = random.next();
    if (random.one_in(5)) mantissa <<= random.below(64);
    std::uint32_t exponent = static_cast<std::uint32_t>(random.below(0x1'0000));
    if (!random.one_in(10)) exponent = static_cast<std::uint32_t>(16383 - 100 + random.below(200));
    if (random.one_in(20)) exponent = random.one_in(2) ? 0 : 0x7FFF;
    constexpr std::uint64_t first = std::uint64_t{1} << 63;
    if ((exponent & 0x7FFF) == 0)
        mantissa &= ~first;
    else if (!random.one_in(20))
        mantissa |= first;
    long double made = 0;
    std::memcpy(&made, &mantissa, sizeof mantissa);
    std::memcpy(reinterpret_cast<char*>(&made) + sizeof mantissa, &exponent, 2);
    return made;
}

std::wstring random_wide(support::random& random) {
    std::wstring made;
    for (std::size_t left = random.below(20); left-- != 0;) {
        std::size_t letter = 1 + random.below(random.one_in(2) ? 0x7F : random.one_in(2) ? 0x900 : 0x10'FFFF);
        if (letter >= 0xD800 && letter < 0xE000) letter = 'x';
        made += static_cast<wchar_t>(letter);
    }
    return made;
}

TEST_F(printing, a_million_formats_and_values_are_written_as_glibc_does) {
    // Fewer under a sanitizer, and at other levels of checks, which change nothing here.
    const bool is_quick = text_tests::malloc_calls().has_value() && !tenure::checks::caller;
    const int count = is_quick ? 1'000'000 : 60'000;
    for (int i = 0; i < count && !HasFatalFailure(); ++i) {
        std::string format = random_start(random_);
        const std::size_t room = size_of_room();
        switch (random_.below(8)) {
        case 0:
        case 1:
            format += "fFeEgGaA"[random_.below(8)];
            compare(room, format.c_str(), random_double(random_));
            break;
        case 2:
            format += 'L';
            format += "fFeEgGaA"[random_.below(8)];
            compare(room, format.c_str(), random_long_double(random_));
            break;
        case 3:
        case 4: {
            constexpr const char* lengths[]{"", "hh", "h", "l", "ll", "j", "z", "t"};
            const std::size_t length = random_.below(8);
            format += lengths[length];
            format += "diouxX"[random_.below(6)];
            const std::uint64_t number = (random_.next() >> random_.below(64)) * (random_.one_in(2) ? 1 : UINT64_MAX);
            if (length < 3)
                compare(room, format.c_str(), static_cast<int>(number));
            else
                compare(room, format.c_str(), number);
            break;
        }
        case 5: {
            const std::string text(random_.below(70), static_cast<char>('a' + random_.below(26)));
            format += random_.one_in(2) ? "s|" : "s";
            compare(room, format.c_str(), random_.one_in(20) ? nullptr : text.c_str());
            break;
        }
        case 6: {
            const std::wstring text = random_wide(random_);
            if (random_.one_in(3)) {
                format += random_.one_in(3) ? "C" : "lc";
                compare(room, format.c_str(), static_cast<std::wint_t>(text.empty() ? 0 : text[0]));
            } else {
                format += random_.one_in(3) ? "S%%" : "ls%%";
                compare(room, format.c_str(), random_.one_in(20) ? nullptr : text.c_str());
            }
            break;
        }
        default:
            if (random_.one_in(2)) {
                format += "c";
                compare(room, format.c_str(), static_cast<int>(random_.below(256)));
            } else {
                format += "p";
                const std::uintptr_t address = random_.one_in(8) ? 0 : random_.next() >> random_.below(64);
                compare(room, format.c_str(), reinterpret_cast<void*>(address));
            }
        }
    }
}

TEST_F(printing, several_conversions_and_stars_take_their_arguments_in_order) {
    compare_all("%s %d, %5.2f|%-8lld|%+.3e %c %% %x", "text", -1, 2.5, 1LL << 60, 1e-7, 'x', 255U);
    compare_all("%*d|%-*d|%.*f|%*.*f|%*s", 6, 5, 7, 4, 3, 2.0, 9, 1, 1e3, -5, "x");
    compare_all("%.*s|%.*d|%.*f|%.*Lg", -1, "abc", -2, 7, -3, 0.1, -4, 0.1L);
    compare_all(&"%1$d"[3], 1);                                         // "d": no conversion
    compare_all("%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10); // past the registers
    compare_all("%f%f%f%f%f%f%f%f%f%f", .1, .2, .3, .4, .5, .6, .7, .8, .9, 1.0);
    compare_all("%Lf%d%Lf%f%s", 1.5L, 2, 3.5L, 4.5, "5");
    compare_all("");
    compare_all("%%");
    compare_all("%5%|%-5%");
}

TEST_F(printing, extremes_of_every_type) {
    for (const char* const format : {"%d", "%i", "%u", "%x", "%#o", "%hhd", "%hhu", "%hd", "%hu"})
        for (const int value : {0, 1, -1, 127, 128, 255, 256, 32767, 32768, 65535, INT_MAX, INT_MIN})
            compare_all(format, value);
    for (const char* const format : {"%ld", "%llu", "%lx", "%jo", "%zu", "%td", "%zd", "%tu", "%ji", "%Ld"})
        for (const long long value : {0LL, 99'999'999LL, 100'000'000LL, 9'999'999'999'999'999LL,
                                      10'000'000'000'000'000LL, LLONG_MAX, LLONG_MIN, -1LL})
            compare_all(format, value);
    using limits = std::numeric_limits<double>;
    for (const char* const format : {"%f", "%.0f", "%.400f", "%.1100f", "%e", "%.0e", "%.766e", "%.800E", "%g", "%#g",
                                     "%.17g", "%.1000g", "%a", "%.0a", "%.5A", "%.20a", "%020f", "%-20g|", "%+F"})
        for (const double value : {0.0,
                                   1.0,
                                   0.5,
                                   1.5,
                                   2.5,
                                   9.5,
                                   0.1,
                                   999999.5,
                                   9999995.0,
                                   1e15,
                                   1e22,
                                   1e23,
                                   123456789012345678.0,
                                   1e-5,
                                   1e-4,
                                   0.00095,
                                   limits::max(),
                                   limits::min(),
                                   limits::denorm_min(),
                                   limits::epsilon(),
                                   limits::infinity(),
                                   limits::quiet_NaN(),
                                   18446744073709551615.0,
                                   18446744073709549568.0}) {
            compare_all(format, value);
            compare_all(format, -value);
        }
    for (const char* const format : {"%5.3Lf", "%Lf", "%.0Le", "%Lg", "%.30Lg", "%La", "%.0La", "%.14LA", "%.25La",
                                     "%.1200Lf", "%.5200Lg", "%.11600Le", "%.16445Lf"})
        for (const long double value :
             {0.0L, 1.0L, 0.1L, 2.5L, 15.96875L, 1e4000L, 1e-4000L, long_limits::max(), long_limits::min(),
              long_limits::denorm_min(), long_limits::epsilon(), long_limits::infinity(), long_limits::quiet_NaN(),
              std::nextafter(long_limits::min(), 0.0L)}) {
            compare_all(format, value);
            compare_all(format, -value);
        }
}

TEST_F(printing, zeros_of_an_alternative_form_are_kept) {
    char room[100];
    format_printf(room, sizeof room, "%#g %#.3G %#Lg %#.1g", 999999.5, -999.6, 999999.5L, 9.6);
    EXPECT_STREQ(room, "1.00000e+06 -1.00E+03 1.00000e+06 1.e+01");
}

TEST_F(printing, a_text_is_cut_at_every_size) {
    for (std::size_t room = 0; room < 130; ++room) {
        compare(room, "%s=%-12d|%+.20f|%#x|%10s|%c%%%Lg", "name", -12345, 1.0 / 3, 48879U, "right", 'c', 1e400L);
        compare(room, "%60d%-60.50e", 7, 0.1);
        compare(room, "%.100d%ls", 7, L"a\u00E9\u20AC\U0001F600");
    }
    EXPECT_EQ(format_printf(nullptr, 0, "%d and %s", 12, "more"), 11);
}

/// Calls with a format that the compiler does not see.
template<class... Values>
int print_hidden(char* to, std::size_t room, const char* format, Values... values) {
    return format_printf(to, room, format, values...);
}

TEST_F(printing, what_is_refused_gives_minus_one_and_an_empty_text) {
    const auto expect_refused = [](const char* format, auto... values) {
        char room[20];
        std::memset(room, untouched, sizeof room);
        EXPECT_EQ(print_hidden(room, sizeof room, format, values...), -1) << format;
        EXPECT_STREQ(room, "") << format;
        EXPECT_EQ(print_hidden(nullptr, 0, format, values...), -1) << format;
    };
    int stored = 42;
    long long stored_long = 42;
    expect_refused("text%n", &stored);
    expect_refused("%hhn", &stored);
    expect_refused("%lln", &stored_long);
    expect_refused("%5n", &stored);
    EXPECT_EQ(stored, 42);
    EXPECT_EQ(stored_long, 42);
    for (const char* const format :
         {"%",     "text%", "%-",     "%5",   "%.",    "%l",  "%y",  "%m",  "%1$d", "%hld",  "%lhd",
          "%llld", "%hhhd", "%.5.3d", "%5*d", "%.-5d", "%Id", "%qd", "%Zd", "%k",   "%\xE9", "%b"})
        expect_refused(format, 1, 2);
    expect_refused("%2147483648d", 1);
    expect_refused("%.2147483648d", 1);
    expect_refused("%99999999999999999999d", 1);
    expect_refused("%*d", INT_MIN, 1);
    expect_refused("%2147483647d%c", 1, 'x'); // one byte too long
    expect_refused("%.2147483647f", 1.0);
    expect_refused("%lc", static_cast<std::wint_t>(0xD800));
    if constexpr (sizeof(std::wint_t) > 2) expect_refused("%lc", static_cast<std::wint_t>(0x11'0000 & WINT_MAX));
    expect_refused("%lc", static_cast<std::wint_t>(WEOF));
    for (const wchar_t* const half : {L"a\xD800", L"\xD83D-", L"\xDE00"}) expect_refused("%ls", half);
}

TEST_F(printing, a_wide_character_of_two_elements_is_one_character) { // where wchar_t has 16 bits
    char room[20];
    EXPECT_EQ(print_hidden(room, sizeof room, "%ls", L"a\U0001F600b\U0010FFFF"), 10);
    EXPECT_STREQ(room, "a\xF0\x9F\x98\x80"
                       "b\xF4\x8F\xBF\xBF");
    EXPECT_EQ(print_hidden(room, sizeof room, "%.5ls|%7.4ls", L"a\U0001F600b", L"a\U0001F600b"), 13);
    EXPECT_STREQ(room, "a\xF0\x9F\x98\x80|      a");
    const wchar_t first_half[2] = {L'a', static_cast<wchar_t>(0xD83D)};
    if constexpr (sizeof(wchar_t) == 2) {
        EXPECT_EQ(print_hidden(room, sizeof room, "%.3ls", first_half), 1) << "nothing behind the array is read";
    }
}

TEST_F(printing, a_text_of_the_longest_size_is_counted_and_cut) {
    char room[8];
    EXPECT_EQ(format_printf(room, sizeof room, "%2147483647d", 1), INT_MAX);
    EXPECT_STREQ(room, "       ");
    EXPECT_EQ(format_printf(room, sizeof room, "%.2147483647d", 1), INT_MAX);
    EXPECT_STREQ(room, "0000000");
    EXPECT_EQ(format_printf(room, sizeof room, "%.2147483645f", 1.0), INT_MAX);
    EXPECT_STREQ(room, "1.00000");
    EXPECT_EQ(format_printf(room, sizeof room, "%-2147483647s", "ab"), INT_MAX);
    EXPECT_STREQ(room, "ab     ");
    EXPECT_EQ(format_printf(room, SIZE_MAX, "%s%.2f", "y", 12.25), 6); // as a replacement of sprintf
    EXPECT_STREQ(room, "y12.25");
}

TEST_F(printing, a_string_with_a_precision_needs_no_zero) {
    const char text[3] = {'a', 'b', 'c'};
    const wchar_t wide[2] = {L'a', L'\u00E9'};
    char room[60]; // not compared: AddressSanitizer's snprintf reads past the precision
    print_hidden(room, sizeof room, "%.3s|%.2s|%.0s|%5.1s", text, text, text, text);
    EXPECT_STREQ(room, "abc|ab||    a");
    print_hidden(room, sizeof room, "%.3ls|%.1ls|%.0ls|%.2ls", wide, wide, wide, wide); // no part of a character
    EXPECT_STREQ(room, "a\xC3\xA9|a||a");
    char zeros[4];
    EXPECT_EQ(format_printf(zeros, sizeof zeros, "a%cb", 0), 3);
    EXPECT_EQ(std::memcmp(zeros, "a\0b", 4), 0);
}

TEST_F(printing, the_rounding_mode_has_no_effect) {
    const int former = std::fegetround();
    // The first digit of a long double has four bits on x86, and one where it has 113 bits.
    const bool has_digit_of_four_bits = std::numeric_limits<long double>::digits == 64;
    const char* const expected = has_digit_of_four_bits
                                     ? "0.12 1.000e+00 0.15 0x1.ep+0 0.38 0xf.cp-3 0.1000000000000000055511151"
                                     : "0.12 1.000e+00 0.15 0x1.ep+0 0.38 0x2.0p+0 0.1000000000000000055511151";
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        char room[100];
        std::fesetround(mode);
        format_printf(room, sizeof room, "%.2f %.3e %.2g %.1a %.2Lf %.1La %.25f", 0.125, 1.0005, 0.15, 1.90625, 0.375L,
                      1.96875L, 0.1);
        std::fesetround(former);
        EXPECT_STREQ(room, expected);
    }
}

TEST_F(printing, nothing_is_allocated) {
    const auto before = text_tests::malloc_calls();
    if (!before.has_value()) GTEST_SKIP() << "malloc is the sanitizer's";
    static char room[20'000];
    format_printf(room, sizeof room, "%s%.2f%d%ls%lc%p", "text", 2.5, 1, L"\u00E9", L'x', static_cast<void*>(room));
    format_printf(room, sizeof room, "%.16445Lf", long_limits::denorm_min());
    format_printf(room, sizeof room, "%.5000Lf", long_limits::max());
    format_printf(room, sizeof room, "%.1100f%.1100e%5000d", 5e-324, 1e308, 1);
    EXPECT_EQ(text_tests::malloc_calls(), before);
}

}
