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

/// Writes to the bytes of a block from `begin` until before `end`: all of a new block, or what a realloc added.
template<touch_policy Policy>
inline void touch(void* block, std::size_t begin, std::size_t end) {
    if (Policy == touch_policy::none || block == nullptr || begin >= end) return;
    auto* const first = static_cast<volatile unsigned char*>(block);
    if constexpr (Policy == touch_policy::whole) {
        std::memset(static_cast<unsigned char*>(block) + begin, 0x5A, end - begin);
        return;
    }
    const std::size_t next_page = (begin + touched_page_bytes - 1) / touched_page_bytes * touched_page_bytes;
    if constexpr (Policy == touch_policy::ends) {
        if (end - begin >= sizeof(std::uint64_t)) {
            // The last word of a block of any size is not aligned; x86-64 stores it all the same.
            constexpr std::uint64_t word = 0x5A5A5A5A5A5A5A5A;
            std::memcpy(static_cast<unsigned char*>(block) + begin, &word, sizeof word);
            std::memcpy(static_cast<unsigned char*>(block) + end - sizeof word, &word, sizeof word);
        } else {
            first[begin] = 0x5A;
            first[end - 1] = 0x5A;
        }
    }
    for (std::size_t i = next_page; i < end; i += touched_page_bytes) first[i] = 0x5A;
}

}
