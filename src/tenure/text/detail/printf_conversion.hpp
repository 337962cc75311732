// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One conversion of a printf format, such as "%-8.3f", and the padding that it asks for.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/text/detail/bounded_text.hpp>

namespace tenure::inline TENURE_ABI::detail {

enum class argument_length : unsigned char { usual, hh, h, l, ll, j, z, t, L };

/// The bit of a flag character.
constexpr std::uint32_t flag_bit(char letter) noexcept { return std::uint32_t{1} << (letter - ' '); }
constexpr std::uint32_t every_flag =
    flag_bit('-') | flag_bit('+') | flag_bit(' ') | flag_bit('#') | flag_bit('0') | flag_bit('\'');

struct printf_conversion {
    std::uint32_t flags = 0;
    int width = 0;
    int precision = -1; // none
    argument_length length = argument_length::usual;
    char letter = 0;

    [[nodiscard]] bool has(char which) const noexcept { return (flags & flag_bit(which)) != 0; }
    [[nodiscard]] bool is_upper() const noexcept { return letter >= 'A' && letter <= 'Z'; }
    /// What stands in front of a number: '-', '+', ' ', or 0 for nothing.
    [[nodiscard]] char sign(bool is_negative) const noexcept {
        if (is_negative) return '-';
        return has('+') ? '+' : has(' ') ? ' ' : '\0';
    }
};

/// Writes a conversion of `bytes` bytes, padded to its width.
template<class Write>
inline void put_padded(bounded_text& to, const printf_conversion& asked, std::uint64_t bytes, Write&& write) noexcept {
    const auto width = static_cast<std::uint64_t>(asked.width);
    const std::uint64_t missing = width > bytes ? width - bytes : 0;
    if (missing != 0 && !asked.has('-')) to.fill(' ', missing);
    write();
    if (missing != 0 && asked.has('-')) to.fill(' ', missing);
}

/// The same for a number, whose sign and prefix ("0x") stand in front of the zeros of flag '0'.
template<class Write>
inline void put_padded_number(bounded_text& to, const printf_conversion& asked, char sign, const char* prefix,
                              std::size_t prefix_bytes, std::uint64_t bytes, bool may_pad_with_zeros,
                              Write&& write) noexcept {
    const std::uint64_t whole = (sign != 0) + prefix_bytes + bytes;
    const auto width = static_cast<std::uint64_t>(asked.width);
    const bool pads_with_zeros = may_pad_with_zeros && asked.has('0') && !asked.has('-') && width > whole;
    const std::uint64_t zeros = pads_with_zeros ? width - whole : 0;
    put_padded(to, asked, whole + zeros, [&]() noexcept {
        if (sign != 0) to.put(sign);
        if (prefix_bytes != 0) to.put(prefix, prefix_bytes);
        if (zeros != 0) to.fill('0', zeros);
        write();
    });
}

/// The same as "%.*f" into number_room_bytes at `to`. Returns   the bytes written; zero when the value or its precision
/// is too large for this way, and for infinity and NaN.
std::size_t put_small_fixed(char* to, double value, unsigned precision) noexcept;

/// %f, %e, %g, %a and their upper-case forms.
void put_float(bounded_text& to, const printf_conversion& asked, double value) noexcept;
void put_float(bounded_text& to, const printf_conversion& asked, long double value) noexcept;

}
