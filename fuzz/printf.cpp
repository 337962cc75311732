// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Formats made of the fuzzer's bytes, with values of any bits, into buffers of any size: the same text, result and
// terminating zero as the C library's snprintf, and no write past the text. Formats that C11 does not define give -1.

#include <tenure/text/format_printf.hpp>

#include <locale.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "operations.hpp"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

namespace {

constexpr char untouched = '#';
constexpr std::size_t most_bytes = 24'000;

std::uint64_t word(fuzz::input& from) {
    std::uint64_t made = 0;
    for (int each = 0; each < 8; ++each) made = made << 8 | from.byte();
    return made;
}

/// glibc drops zeros of "%#g" when rounding makes a number as large as 10 ^ precision.
bool leaves_zeros_out(std::string_view format, std::string_view text) {
    return format.find('#') != format.npos && format.find_first_of("gG") != format.npos &&
           (text.find("1.e+") != text.npos || text.find("1.E+") != text.npos);
}

template<class... Values>
void check(const std::string& format, std::size_t room, Values... values) {
    static std::array<char, most_bytes> right, ours;
    const int size = std::snprintf(right.data(), right.size(), format.c_str(), values...);
    if (size < 0 || static_cast<std::size_t>(size) >= right.size()) return;
    const std::size_t whole = static_cast<std::size_t>(size) + 1;
    if (leaves_zeros_out(format, {right.data(), whole})) return;
    room %= ours.size() - 64;
    const std::size_t written = std::min(whole, room), end = std::max(whole, room) + 64;
    std::memset(ours.data(), untouched, std::min(end, ours.size()));
    const int result = tenure::format_printf(ours.data(), room, format.c_str(), values...);
    if (result != size || (written != 0 && std::memcmp(ours.data(), right.data(), written - 1) != 0))
        std::fprintf(stderr, "%s: %d \"%s\" instead of %d \"%s\"\n", format.c_str(), result, ours.data(), size,
                     right.data());
    fuzz::require(result == size, "the result is snprintf's");
    if (written != 0) {
        fuzz::require(std::memcmp(ours.data(), right.data(), written - 1) == 0, "the text is snprintf's");
        fuzz::require(ours[written - 1] == '\0', "a zero ends it");
    }
    for (std::size_t byte = written; byte < std::min(end, ours.size()); ++byte)
        fuzz::require(ours[byte] == untouched, "nothing is written behind it");
}

long double any_long_double(fuzz::input& from) {
    std::uint64_t mantissa = word(from);
    const std::uint16_t exponent = static_cast<std::uint16_t>(from.byte() << 8 | from.byte());
    constexpr std::uint64_t first = std::uint64_t{1} << 63;
    if ((exponent & 0x7FFF) == 0) mantissa &= ~first; // glibc's %f and %a disagree about these
    long double made = 0;
    std::memcpy(&made, &mantissa, sizeof mantissa);
    std::memcpy(reinterpret_cast<char*>(&made) + sizeof mantissa, &exponent, sizeof exponent);
    return made;
}

/// Flags, width and precision of one conversion.
std::string any_start(fuzz::input& from) {
    std::string format = "%";
    const std::uint8_t flags = from.byte();
    for (int flag = 0; flag < 6; ++flag)
        if ((flags >> flag & 1) != 0) format += "-+ #0'"[flag];
    const std::uint8_t kind = from.byte();
    if ((kind & 1) != 0) format += std::to_string(1 + from.byte() * (kind >= 240 ? 40 : 1));
    if ((kind & 2) != 0) format += '.';
    if ((kind & 6) == 6) format += std::to_string(from.byte() * (kind >= 240 ? 40 : 1));
    return format;
}

void any_conversion(fuzz::input& from) {
    const std::string start = any_start(from);
    const std::uint8_t kind = from.byte();
    const std::size_t room = kind % 3 == 0 ? from.byte() : most_bytes - 65;
    constexpr const char* lengths[]{"l", "ll", "j", "z", "t"};
    switch (kind % 8) {
    case 0: return check(start + "fFeEgGaA"[kind / 8 % 8], room, std::bit_cast<double>(word(from)));
    case 1: return check(start + 'L' + "fFeEgGaA"[kind / 8 % 8], room, any_long_double(from));
    case 2: {
        const double usual = static_cast<double>(static_cast<std::int64_t>(word(from)) >> kind / 4) / (1 << kind % 20);
        return check(start + "fFeEgGaA"[from.byte() % 8], room, usual);
    }
    case 3: return check(start + lengths[kind / 8 % 5] + "diouxX"[from.byte() % 6], room, word(from));
    case 4: {
        constexpr const char* narrow[]{"", "h", "hh"};
        return check(start + narrow[kind / 8 % 3] + "diouxXc"[from.byte() % 7], room, static_cast<int>(word(from)));
    }
    case 5: {
        std::string text;
        for (std::size_t left = from.byte(); left-- != 0;) text += static_cast<char>(from.byte());
        return check(start + "s", room, text.c_str());
    }
    case 6: {
        std::wstring text;
        for (std::size_t left = from.byte() % 32U; left-- != 0;) {
            const std::uint32_t letter = static_cast<std::uint32_t>(word(from)) % 0x11'0000U >> from.byte() % 21U;
            text += static_cast<wchar_t>(letter);
        }
        return check(start + "ls", room, text.c_str()); // what is no character is refused by both
    }
    default: return check(start + 'p', room, reinterpret_cast<void*>(word(from) >> kind % 64U));
    }
}

/// Any bytes as a format: no crash, and a result that says what was written. Arguments fit every conversion that takes
/// an integer; others are left out.
void any_format(fuzz::input& from) {
    constexpr std::string_view letters = "%%%-+ #0'.*123456789hljztLdiouxXcpnyab";
    std::string format;
    for (std::size_t left = from.byte() % 24U; left-- != 0;) format += letters[from.byte() % letters.size()];
    if (format.find_first_of("aL*") != format.npos) return;
    std::array<char, 80> room;
    room.fill(untouched);
    const int size =
        tenure::format_printf(room.data(), room.size() - 16, format.c_str(), 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L,
                              11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L, 19L, 20L, 21L, 22L, 23L, 24L);
    fuzz::require(size >= -1, "a size or a refusal");
    const std::size_t end = size < 0 ? 0 : std::min<std::size_t>(static_cast<std::size_t>(size), room.size() - 17);
    fuzz::require(room[end] == '\0', "a zero ends the text");
    for (std::size_t byte = room.size() - 16; byte < room.size(); ++byte)
        fuzz::require(room[byte] == untouched, "nothing is written past the room");
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    static const locale_t utf8 = ::uselocale(::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr));
    static_cast<void>(utf8);
    fuzz::input from(bytes, count);
    for (int each = 0; each < 40 && !from.empty(); ++each) {
        if (from.byte() % 8 == 0)
            any_format(from);
        else
            any_conversion(from);
    }
    return 0;
}
