// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Numbers of variable length, as a trace's file has them (trace_format.hpp).

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::lab {

inline void append_number(std::string& to, std::uint64_t value) {
    for (; value >= 128; value >>= 7) to += static_cast<char>(value | 128);
    to += static_cast<char>(value);
}

inline void append_signed(std::string& to, std::uint64_t difference) {
    append_number(to, difference << 1 ^ (~(difference >> 63) + 1));
}

/// Takes a number off the bytes. Returns   zero, and sets `is_damaged`, if there is none.
[[nodiscard]] inline std::uint64_t take_number(std::string_view& bytes, bool& is_damaged) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto each = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{each & 127U} << shift;
        if (each < 128) return value;
    }
    is_damaged = true;
    return 0;
}

[[nodiscard]] inline std::uint64_t take_signed(std::string_view& bytes, bool& is_damaged) {
    const std::uint64_t folded = take_number(bytes, is_damaged);
    return folded >> 1 ^ (~(folded & 1) + 1);
}

}
