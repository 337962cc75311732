// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How much of a block replay writes after its allocation. A trace says nothing about the program's own accesses, so
/// this is a stated assumption.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tenure::lab {

enum class touch_policy : std::uint8_t {
    none,  ///< nothing: pages of large blocks stay without memory
    pages, ///< a byte of each OS page
    ends,  ///< the first and the last word, and a byte of each OS page between
    whole, ///< every byte
};

inline constexpr std::array<std::string_view, 4> touch_names{"none", "pages", "ends", "whole"};

[[nodiscard]] constexpr std::string_view name_of(touch_policy policy) {
    return touch_names[static_cast<std::size_t>(policy)];
}
[[nodiscard]] constexpr std::optional<touch_policy> touch_named(std::string_view name) {
    for (std::size_t i = 0; i < touch_names.size(); ++i)
        if (touch_names[i] == name) return static_cast<touch_policy>(i);
    return std::nullopt;
}

inline constexpr std::size_t touched_page_bytes = 4096;

/// Writes to a new block.
template<touch_policy Policy>
inline void touch(void* block, std::size_t bytes) {
    if (Policy == touch_policy::none || block == nullptr || bytes == 0) return;
    auto* const first = static_cast<volatile unsigned char*>(block);
    if constexpr (Policy == touch_policy::whole) {
        std::memset(block, 0x5A, bytes);
        return;
    }
    if constexpr (Policy == touch_policy::ends) {
        if (bytes >= sizeof(std::uint64_t)) {
            // The last word of a block of any size is not aligned; x86-64 stores it all the same.
            constexpr std::uint64_t word = 0x5A5A5A5A5A5A5A5A;
            std::memcpy(block, &word, sizeof word);
            std::memcpy(static_cast<unsigned char*>(block) + bytes - sizeof word, &word, sizeof word);
        } else {
            first[0] = 0x5A;
            first[bytes - 1] = 0x5A;
        }
        for (std::size_t i = touched_page_bytes; i < bytes; i += touched_page_bytes) first[i] = 0x5A;
    } else {
        for (std::size_t i = 0; i < bytes; i += touched_page_bytes) first[i] = 0x5A;
    }
}

}
