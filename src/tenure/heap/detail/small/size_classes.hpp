// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Size classes of small blocks.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

// 8, then every 16 up to 128, then four per doubling. Rounding wastes at most a quarter of a block, an eighth on
// average. Every power of two is a class, so an alignment is met by a size that is a multiple of it.
constexpr std::size_t max_small_bytes = std::size_t{32} * 1024;
constexpr std::size_t small_class_count = 41;
constexpr std::size_t linear_limit_bytes = 128;
constexpr std::size_t first_geometric_class = 9;

/// Requires  1 <= `bytes` <= max_small_bytes.
[[nodiscard]] constexpr std::size_t geometric_class_of(std::size_t bytes) noexcept {
    const auto exponent = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1; // at least 7
    const std::size_t quarter = ((bytes - 1) >> (exponent - 2)) & 3;
    return first_geometric_class + (exponent - 7) * 4 + quarter;
}

[[nodiscard]] constexpr std::size_t class_bytes(std::size_t index) noexcept {
    if (index == 0) return 8;
    if (index < first_geometric_class) return index * 16;
    const std::size_t doubling = (index - first_geometric_class) / 4;
    const std::size_t quarter = (index - first_geometric_class) % 4;
    return (linear_limit_bytes << doubling) / 4 * (5 + quarter);
}

constexpr std::size_t table_limit_bytes = 1024;

/// Classes of sizes up to 1 KiB, in steps of 8.
constexpr auto class_table = [] {
    std::array<std::uint8_t, table_limit_bytes / 8 + 1> table{};
    for (std::size_t eights = 0; eights < table.size(); ++eights) {
        const std::size_t bytes = eights == 0 ? 1 : eights * 8;
        std::size_t index = bytes <= 8 ? 0 : (bytes + 15) / 16;
        if (bytes > linear_limit_bytes) index = geometric_class_of(bytes);
        table[eights] = static_cast<std::uint8_t>(index);
    }
    return table;
}();

/// The smallest class that holds `bytes`.
/// Requires  `bytes` <= max_small_bytes.
[[nodiscard]] constexpr std::size_t class_of(std::size_t bytes) noexcept {
    return bytes <= table_limit_bytes ? class_table[(bytes + 7) / 8] : geometric_class_of(bytes);
}

/// The class that serves a request, or small_class_count.
/// Requires  `alignment` is a power of two, and the sum of both does not overflow.
[[nodiscard]] constexpr std::size_t class_for(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t least = alignment <= 8 ? 1 : 9; // blocks of the smallest class are multiples of 8 only
    const std::size_t size = bytes < least ? least : bytes;
    const std::size_t whole = alignment <= 16 ? size : (size + alignment - 1) & ~(alignment - 1);
    return whole <= max_small_bytes ? class_of(whole) : small_class_count;
}

static_assert(class_bytes(small_class_count - 1) == max_small_bytes);
static_assert(class_of(max_small_bytes) == small_class_count - 1);
static_assert(class_of(0) == 0 && class_of(8) == 0 && class_of(9) == 1 && class_of(129) == first_geometric_class);

}
