// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Bit sets stored as 64-bit words.

#include <bit>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

using bit_word = std::uint64_t;
constexpr std::size_t bits_per_word = 64;

[[nodiscard]] constexpr std::size_t words_for(std::size_t bits) noexcept {
    return (bits + bits_per_word - 1) / bits_per_word;
}

/// The index of the lowest set bit. Requires  `word` is not zero.
[[nodiscard]] constexpr std::size_t lowest_bit(bit_word word) noexcept {
    return static_cast<std::size_t>(std::countr_zero(word));
}

[[nodiscard]] constexpr bit_word without_lowest_bit(bit_word word) noexcept { return word & (word - 1); }

[[nodiscard]] constexpr std::size_t count_bits(bit_word word) noexcept {
    return static_cast<std::size_t>(std::popcount(word));
}

/// A word with the lowest `count` bits set. Requires  `count` is at most 64.
[[nodiscard]] constexpr bit_word low_bits(std::size_t count) noexcept {
    return count >= bits_per_word ? ~bit_word{0} : (bit_word{1} << count) - 1;
}

[[nodiscard]] constexpr bit_word bit_at(std::size_t index) noexcept { return bit_word{1} << (index % bits_per_word); }

/// Calls `visit(word, bits)` for each word with some of the `count` bits from `first` on: its index, and a mask of
/// them.
template<class Visit>
constexpr void for_each_word_of(std::size_t first, std::size_t count, Visit&& visit) {
    while (count != 0) {
        const std::size_t shift = first % bits_per_word;
        const std::size_t here = count < bits_per_word - shift ? count : bits_per_word - shift;
        visit(first / bits_per_word, low_bits(here) << shift);
        first += here;
        count -= here;
    }
}

/// Calls `visit(index)` for each set bit, lowest first.
template<class Visit>
constexpr void for_each_bit(bit_word word, Visit&& visit) {
    for (; word != 0; word = without_lowest_bit(word)) visit(lowest_bit(word));
}

}
