// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/text/format_printf.hpp>

#include <climits>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <type_traits>

#include <tenure/text/detail/bounded_text.hpp>
#include <tenure/text/detail/digits.hpp>
#include <tenure/text/detail/printf_conversion.hpp>
#include <tenure/text/format.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

using detail::argument_length, detail::bounded_text, detail::printf_conversion, detail::put_padded;

/// A va_list that functions can take by reference; as a parameter it may be an array.
struct argument_list {
    std::va_list list;
};

/// What a wide letter becomes as an argument of a function that takes any.
using promoted_wide = std::conditional_t<(sizeof(std::wint_t) < sizeof(int)), int, std::wint_t>;

// ------------------------------------------------------------------------------------------------ reading a format

constexpr bool is_digit(char letter) noexcept { return letter >= '0' && letter <= '9'; }

/// Reads digits; none are zero. Returns   whether the number is at most INT_MAX.
bool read_number(const char*& at, int& number) noexcept {
    std::int64_t read = 0;
    for (; is_digit(*at); ++at) {
        read = read * 10 + (*at - '0');
        if (read > INT_MAX) return false;
    }
    number = static_cast<int>(read);
    return true;
}

argument_length read_length(const char*& at) noexcept {
    switch (*at) {
    case 'h': return *++at == 'h' ? (++at, argument_length::hh) : argument_length::h;
    case 'l': return *++at == 'l' ? (++at, argument_length::ll) : argument_length::l;
    case 'j': return ++at, argument_length::j;
    case 'z': return ++at, argument_length::z;
    case 't': return ++at, argument_length::t;
    case 'L': return ++at, argument_length::L;
    default: return argument_length::usual;
    }
}

/// Reads what follows a '%'. Returns   its end, or nullptr when a number is too large.
const char* read_conversion(const char* at, argument_list& from, printf_conversion& asked) noexcept {
    for (;; ++at) {
        const unsigned bit = static_cast<unsigned char>(*at) - unsigned{' '};
        if (bit >= 32 || (detail::every_flag >> bit & 1) == 0) break;
        asked.flags |= std::uint32_t{1} << bit;
    }
    if (*at == '*') {
        ++at;
        asked.width = va_arg(from.list, int);
        if (asked.width == INT_MIN) return nullptr;
        if (asked.width < 0) {
            asked.width = -asked.width;
            asked.flags |= detail::flag_bit('-');
        }
    } else if (is_digit(*at) && !read_number(at, asked.width)) {
        return nullptr;
    }
    if (*at == '.') {
        ++at;
        if (*at == '*') {
            ++at;
            asked.precision = va_arg(from.list, int); // a negative one is none
        } else if (!read_number(at, asked.precision)) {
            return nullptr;
        }
    }
    asked.length = read_length(at);
    asked.letter = *at;
    return at + 1;
}

// ------------------------------------------------------------------------------------------------ integers

std::int64_t signed_argument(argument_list& from, argument_length length) noexcept {
    switch (length) {
    case argument_length::usual: break;
    case argument_length::hh: return static_cast<signed char>(va_arg(from.list, int));
    case argument_length::h: return static_cast<short>(va_arg(from.list, int));
    case argument_length::l: return va_arg(from.list, long);
    case argument_length::ll:
    case argument_length::L: return va_arg(from.list, long long);
    // NOLINTNEXTLINE(bugprone-branch-clone): these types differ on other systems
    case argument_length::j: return va_arg(from.list, std::intmax_t);
    case argument_length::z: return va_arg(from.list, std::make_signed_t<std::size_t>);
    case argument_length::t: return va_arg(from.list, std::ptrdiff_t);
    }
    return va_arg(from.list, int);
}

std::uint64_t unsigned_argument(argument_list& from, argument_length length) noexcept {
    switch (length) {
    case argument_length::usual: break;
    case argument_length::hh: return static_cast<unsigned char>(va_arg(from.list, unsigned));
    case argument_length::h: return static_cast<unsigned short>(va_arg(from.list, unsigned));
    case argument_length::l: return va_arg(from.list, unsigned long);
    case argument_length::ll:
    case argument_length::L: return va_arg(from.list, unsigned long long);
    // NOLINTNEXTLINE(bugprone-branch-clone): these types differ on other systems
    case argument_length::j: return va_arg(from.list, std::uintmax_t);
    case argument_length::z: return va_arg(from.list, std::size_t);
    case argument_length::t: return va_arg(from.list, std::make_unsigned_t<std::ptrdiff_t>);
    }
    return va_arg(from.list, unsigned);
}

/// The longest number is that of 64 bits in octal digits.
constexpr std::size_t digits_room_bytes = detail::number_room_bytes;

/// Writes the digits of a number in base 8 or 16 in front of `end`. Returns   the first; `end` for zero.
template<unsigned Bits>
char* put_bits(char* end, std::uint64_t number, const char* digits) noexcept {
    for (; number != 0; number >>= Bits) *--end = digits[number & ((1U << Bits) - 1)];
    return end;
}

void put_integer(bounded_text& to, const printf_conversion& asked, char sign, const char* prefix, const char* digits,
                 std::size_t count) noexcept {
    const std::size_t prefix_bytes = prefix == nullptr ? 0 : 2;
    const auto least = static_cast<std::uint64_t>(asked.precision < 0 ? 1 : asked.precision);
    const std::uint64_t zeros = least > count ? least - count : 0;
    // A precision makes flag '0' void.
    detail::put_padded_number(to, asked, sign, prefix, prefix_bytes, zeros + count, asked.precision < 0,
                              [&]() noexcept {
                                  if (zeros != 0) to.fill('0', zeros);
                                  to.put(digits, count);
                              });
}

void put_decimal(bounded_text& to, const printf_conversion& asked, char sign, bool is_negative,
                 std::uint64_t size) noexcept {
    char digits[digits_room_bytes];
    if (asked.flags == 0 && asked.width == 0 && asked.precision < 0) [[likely]] {
        const char* const end = detail::put_short_integer(digits, sizeof digits, is_negative, size);
        return to.put(digits, end != nullptr ? static_cast<std::size_t>(end - digits)
                                             : detail::format_integer(digits, sizeof digits, is_negative, size));
    }
    const std::size_t count = size == 0 ? 0 : detail::format_integer(digits, sizeof digits, false, size);
    put_integer(to, asked, sign, nullptr, digits, count);
}

/// %x, %X, %p.
void put_hexadecimal(bounded_text& to, const printf_conversion& asked, char sign, bool has_prefix,
                     std::uint64_t number) noexcept {
    char digits[digits_room_bytes];
    char* const end = digits + sizeof digits;
    const bool is_upper = asked.is_upper();
    const char* const first = put_bits<4>(end, number, is_upper ? "0123456789ABCDEF" : "0123456789abcdef");
    const char* const prefix = is_upper ? "0X" : "0x";
    put_integer(to, asked, sign, has_prefix ? prefix : nullptr, first, static_cast<std::size_t>(end - first));
}

void put_octal(bounded_text& to, const printf_conversion& asked, std::uint64_t number) noexcept {
    char digits[digits_room_bytes];
    char* const end = digits + sizeof digits;
    char* first = put_bits<3>(end, number, "01234567");
    const bool starts_with_zero = asked.precision > end - first || (asked.precision < 0 && number == 0);
    if (asked.has('#') && !starts_with_zero) *--first = '0';
    put_integer(to, asked, 0, nullptr, first, static_cast<std::size_t>(end - first));
}

// ------------------------------------------------------------------------------------------------ text

void put_text(bounded_text& to, const printf_conversion& asked, const char* text, std::size_t bytes) noexcept {
    if (asked.width == 0) return to.put(text, bytes);
    put_padded(to, asked, bytes, [&]() noexcept { to.put(text, bytes); });
}

void put_string(bounded_text& to, const printf_conversion& asked, const char* text) noexcept {
    if (text == nullptr) {
        constexpr std::size_t word_bytes = 6;
        const bool fits = asked.precision < 0 || static_cast<std::size_t>(asked.precision) >= word_bytes;
        return put_text(to, asked, "(null)", fits ? word_bytes : 0); // no part of it, as in glibc
    }
    if (asked.precision < 0) return put_text(to, asked, text, std::strlen(text));
    // An array without a zero is allowed if the precision ends within it: memchr stops at the first zero.
    const auto most = static_cast<std::size_t>(asked.precision);
    const void* const end = most == 0 ? nullptr : std::memchr(text, 0, most);
    put_text(to, asked, text, end == nullptr ? most : static_cast<std::size_t>(static_cast<const char*>(end) - text));
}

/// Returns   the bytes of a character in UTF-8; zero when it is no Unicode scalar value.
std::size_t to_utf8(char* to, std::uint32_t letter) noexcept {
    if (letter < 0x80) {
        *to = static_cast<char>(letter);
        return 1;
    }
    if (letter > 0x10'FFFF || (letter >= 0xD800 && letter < 0xE000)) return 0;
    const std::size_t bytes = letter < 0x800 ? 2 : letter < 0x1'0000 ? 3 : 4;
    for (std::size_t byte = bytes; --byte != 0; letter >>= 6) to[byte] = static_cast<char>(0x80 | (letter & 0x3F));
    to[0] = static_cast<char>(0xF00U >> bytes | letter);
    return bytes;
}

constexpr std::size_t max_utf8_bytes = 4;

bool put_wide_letter(bounded_text& to, const printf_conversion& asked, std::uint32_t letter) noexcept {
    if (letter == static_cast<std::uint32_t>(WEOF)) return false; // of 16 bits, it would be a character
    char text[max_utf8_bytes];
    const std::size_t bytes = to_utf8(text, letter);
    if (bytes != 0) put_text(to, asked, text, bytes);
    return bytes != 0;
}

[[nodiscard]] constexpr std::uint32_t code_of(wchar_t element) noexcept {
    return static_cast<std::make_unsigned_t<wchar_t>>(element);
}

[[nodiscard]] constexpr bool is_high_surrogate(wchar_t element) noexcept {
    return sizeof(wchar_t) == 2 && (code_of(element) & 0xFC00) == 0xD800;
}

/// The character at `text`. Where wchar_t has 16 bits, two elements can be one character: `elements` says how many.
[[nodiscard]] std::uint32_t letter_at(const wchar_t* text, std::size_t& elements) noexcept {
    const std::uint32_t first = code_of(text[0]);
    elements = 1;
    if (!is_high_surrogate(text[0])) return first;
    const std::uint32_t second = code_of(text[1]);
    if ((second & 0xFC00) != 0xDC00) return first;
    elements = 2;
    return 0x1'0000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
}

/// A precision counts bytes; no part of a character is written.
bool put_wide_string(bounded_text& to, const printf_conversion& asked, const wchar_t* text) noexcept {
    if (text == nullptr) return put_string(to, asked, nullptr), true;
    const auto most = asked.precision < 0 ? UINT64_MAX : static_cast<std::uint64_t>(asked.precision);
    std::uint64_t bytes = 0;
    std::size_t count = 0, elements = 0;
    char letter[max_utf8_bytes];
    for (; bytes < most && text[count] != 0; count += elements) {
        // The array may end behind the first half of a character that does not fit.
        if (is_high_surrogate(text[count]) && most - bytes < max_utf8_bytes) break;
        const std::size_t more = to_utf8(letter, letter_at(text + count, elements));
        if (more == 0) return false;
        if (more > most - bytes) break;
        bytes += more;
    }
    put_padded(to, asked, bytes, [&]() noexcept {
        for (std::size_t each = 0; each < count; each += elements)
            to.put(letter, to_utf8(letter, letter_at(text + each, elements)));
    });
    return true;
}

void put_pointer(bounded_text& to, const printf_conversion& asked, const void* pointer) noexcept {
    if (pointer == nullptr) return put_text(to, asked, "(nil)", 5);
    put_hexadecimal(to, asked, asked.sign(false), true, reinterpret_cast<std::uintptr_t>(pointer));
}

// ------------------------------------------------------------------------------------------------ conversions

/// Writes one conversion. Returns   false when it is refused.
bool put_conversion(bounded_text& to, const printf_conversion& asked, argument_list& from) noexcept {
    const bool is_long = asked.length == argument_length::l || asked.length == argument_length::ll;
    switch (asked.letter) {
    case 'd':
    case 'i': {
        const std::int64_t number = signed_argument(from, asked.length);
        const bool is_negative = number < 0;
        put_decimal(to, asked, asked.sign(is_negative), is_negative, detail::size_of_integer(number));
        return true;
    }
    case 'u': return put_decimal(to, asked, 0, false, unsigned_argument(from, asked.length)), true;
    case 'x':
    case 'X': {
        const std::uint64_t number = unsigned_argument(from, asked.length);
        return put_hexadecimal(to, asked, 0, asked.has('#') && number != 0, number), true;
    }
    case 'o': return put_octal(to, asked, unsigned_argument(from, asked.length)), true;
    case 's':
        if (is_long) return put_wide_string(to, asked, va_arg(from.list, const wchar_t*));
        return put_string(to, asked, va_arg(from.list, const char*)), true;
    case 'c': {
        if (is_long) return put_wide_letter(to, asked, static_cast<std::wint_t>(va_arg(from.list, promoted_wide)));
        const char letter = static_cast<char>(va_arg(from.list, int));
        return put_text(to, asked, &letter, 1), true;
    }
    case 'S': return put_wide_string(to, asked, va_arg(from.list, const wchar_t*));
    case 'C': return put_wide_letter(to, asked, static_cast<std::wint_t>(va_arg(from.list, promoted_wide)));
    case 'p': return put_pointer(to, asked, va_arg(from.list, const void*)), true;
    case '%': return to.put('%'), true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (asked.length == argument_length::L)
            detail::put_float(to, asked, va_arg(from.list, long double));
        else
            detail::put_float(to, asked, va_arg(from.list, double));
        return true;
    default: return false;
    }
}

/// Returns   false when a conversion is refused.
bool put_all(bounded_text& to, const char* format, argument_list& from) noexcept {
    while (true) {
        const char* end = format;
        while (*end != '%' && *end != '\0') ++end;
        if (end != format) to.put(format, static_cast<std::size_t>(end - format));
        if (*end == '\0') return true;
        printf_conversion asked;
        format = read_conversion(end + 1, from, asked);
        if (format == nullptr || !put_conversion(to, asked, from)) return false;
    }
}

/// Returns   the bytes that the text needs, or -1; `end` is where the written part of it ends.
std::ptrdiff_t print_to(char* to, std::size_t room, const char* format, std::va_list arguments, char*& end) noexcept {
    argument_list from;
    va_copy(from.list, arguments);
    bounded_text text(to, room);
    const bool is_good = put_all(text, format, from);
    va_end(from.list);
    end = text.end();
    return is_good && text.needed_bytes() <= INT_MAX ? static_cast<std::ptrdiff_t>(text.needed_bytes()) : -1;
}

}

std::ptrdiff_t detail::print(char* to, std::size_t room, const char* format, std::va_list arguments) noexcept {
    char* end = nullptr;
    return print_to(to, room, format, arguments, end);
}

int format_vprintf(char* to, std::size_t room, const char* format, std::va_list arguments) noexcept {
    char* end = nullptr;
    const std::ptrdiff_t needed = print_to(to, room == 0 ? 0 : room - 1, format, arguments, end);
    if (room != 0) *(needed < 0 ? to : end) = '\0';
    return static_cast<int>(needed);
}

int format_printf(char* to, std::size_t room, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    const int needed = format_vprintf(to, room, format, arguments);
    va_end(arguments);
    return needed;
}

}
