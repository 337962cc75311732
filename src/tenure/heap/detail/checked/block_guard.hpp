// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Guard bytes behind a block and a fill pattern in freed blocks, with which checked builds detect stray writes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tenure/base/align.hpp>
#include <tenure/base/compiler.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of a block of `usable` bytes that was requested with `bytes`:
//
//   | bytes ... | guard: at least 8 bytes of guard_fill ... | canary: 8 bytes |
//
// The canary holds the number of bytes behind the requested ones, twice, mixed with the block's address and keys of the
// process. So a write of one byte, a plain overrun or a word copied from another block is detected. The canary of
// the block in front detects a write before the begin. freed_fill fills a freed block and its canary.
//
// What is bounded, so that each costs a few instructions without a loop: of the guard, the first 16 and the last 8
// bytes are written and checked. Of a freed small block past 256 bytes, the first and the last 128 bytes are filled and
// checked. Of a freed larger block, the first and the last 4 KiB are filled.

constexpr unsigned char guard_fill = 0xFB;
constexpr std::size_t guard_bytes = 16; ///< added to the requested size
constexpr std::size_t canary_overwritten = SIZE_MAX;
constexpr std::size_t filled_end_bytes = 128;
constexpr std::size_t larger_end_bytes = 4096;

/// Mixed into each canary; the same for the whole process and the children of a fork.
using canary_keys = platform::random_words;
[[nodiscard]] canary_keys keys_of_canaries() noexcept;

[[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t word_at(const void* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}
[[nodiscard]] TENURE_ALWAYS_INLINE unsigned char* bytes_from(const void* block, std::size_t offset) noexcept {
    return static_cast<unsigned char*>(const_cast<void*>(block)) + offset;
}
/// The byte eight times, hidden from the optimiser, which would otherwise call memset for a few words.
[[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t repeated(unsigned char byte) noexcept {
    std::uint64_t word = byte * std::uint64_t{0x0101'0101'0101'0101};
    TENURE_OPAQUE(word);
    return word;
}

/// Two rounds of a keyed multiplication, with four independent keys: a few cycles, because each call computes one or
/// two. Canaries of known addresses cannot be solved bit by bit for the keys, and no shorter way than a search is known
/// to us; but it is no cipher, and nobody has proved that there is none. The keys open nothing but canaries. A canary
/// that leaks is valid for its own block, which is what a secret in the block's memory cannot prevent.
[[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t canary_key(const canary_keys& keys, std::uintptr_t block) noexcept {
    const std::uint64_t inner = folded_product(block ^ keys.words[0], keys.words[1]);
    return folded_product(inner ^ keys.words[2], block ^ keys.words[3]);
}
[[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t canary_for(const canary_keys& keys, std::uintptr_t block,
                                                            std::size_t behind) noexcept {
    return canary_key(keys, block) ^ (behind * std::uint64_t{0x1'0000'0001});
}
/// The number of bytes behind the requested ones; zero if the canary was overwritten.
[[nodiscard]] TENURE_ALWAYS_INLINE std::size_t behind_of(const canary_keys& keys, std::uintptr_t block,
                                                         std::uint64_t canary) noexcept {
    const std::uint64_t twice = canary ^ canary_key(keys, block);
    const auto behind = static_cast<std::uint32_t>(twice);
    return twice >> 32 == behind ? behind : 0;
}

/// Writes the guard and the canary.
/// Requires  `bytes` + guard_bytes <= `usable`, a multiple of 8.
TENURE_ALWAYS_INLINE void set_guard(void* block, std::size_t usable, std::size_t bytes,
                                    const canary_keys& keys) noexcept {
    constexpr std::size_t step = sizeof(std::uint64_t);
    const std::uint64_t canary = canary_for(keys, address_of(block), usable - bytes);
    const std::uint64_t pattern = repeated(guard_fill);
    const std::size_t last = usable - 2 * step;
    std::memcpy(bytes_from(block, bytes), &pattern, step);
    std::memcpy(bytes_from(block, std::min(bytes + step, last)), &pattern, step);
    std::memcpy(bytes_from(block, last), &pattern, step);
    std::memcpy(bytes_from(block, last + step), &canary, step);
}

/// The requested size; canary_overwritten if the canary was.
[[nodiscard]] TENURE_ALWAYS_INLINE std::size_t asked_bytes_of(const void* block, std::size_t usable,
                                                              const canary_keys& keys) noexcept {
    const std::uint64_t canary = word_at(bytes_from(block, usable - sizeof canary));
    const std::size_t behind = behind_of(keys, address_of(block), canary);
    return behind >= guard_bytes && behind <= usable ? usable - behind : canary_overwritten;
}

/// Whether the guard's bytes are unchanged.
/// Requires  `bytes` is the requested size.
[[nodiscard]] TENURE_ALWAYS_INLINE bool is_guard_whole(const void* block, std::size_t usable,
                                                       std::size_t bytes) noexcept {
    constexpr std::size_t step = sizeof(std::uint64_t);
    const std::uint64_t pattern = repeated(guard_fill);
    const std::size_t last = usable - 2 * step;
    const std::uint64_t differs = (word_at(bytes_from(block, bytes)) ^ pattern) |
                                  (word_at(bytes_from(block, std::min(bytes + step, last))) ^ pattern) |
                                  (word_at(bytes_from(block, last)) ^ pattern);
    return differs == 0;
}

/// Fills `count` bytes, which the compiler knows.
template<std::size_t count>
TENURE_ALWAYS_INLINE void fill_part(void* part) noexcept {
    const word_pair pattern = word_pair{} + repeated(freed_fill);
#pragma GCC unroll 8
    for (std::size_t at = 0; at < count; at += sizeof pattern)
        std::memcpy(bytes_from(part, at), &pattern, sizeof pattern);
}
/// The bits in which `count` bytes differ from the fill.
template<std::size_t count>
[[nodiscard]] TENURE_ALWAYS_INLINE word_pair difference(const void* part) noexcept {
    const word_pair pattern = word_pair{} + repeated(freed_fill);
    word_pair differs{};
#pragma GCC unroll 8
    for (std::size_t at = 0; at < count; at += sizeof pattern) {
        word_pair found;
        std::memcpy(&found, bytes_from(part, at), sizeof found);
        differs |= found ^ pattern;
    }
    return differs;
}

/// Fills a freed small block: its first and its last bytes, which overlap in a short one.
/// Requires  `usable` is at least 32, a multiple of 16.
TENURE_ALWAYS_INLINE void fill_small(void* block, std::size_t usable) noexcept {
    const auto ends = [&]<std::size_t count>(std::integral_constant<std::size_t, count>) {
        fill_part<count>(block);
        fill_part<count>(bytes_from(block, usable - count));
    };
    if (usable >= filled_end_bytes) return ends(std::integral_constant<std::size_t, filled_end_bytes>{});
    if (usable >= 64) return ends(std::integral_constant<std::size_t, 64>{});
    ends(std::integral_constant<std::size_t, 32>{});
}
/// Whether the fill of a small block is unchanged.
[[nodiscard]] TENURE_ALWAYS_INLINE bool is_filled(const void* block, std::size_t usable) noexcept {
    const auto ends = [&]<std::size_t count>(std::integral_constant<std::size_t, count>) {
        const word_pair both = difference<count>(block) | difference<count>(bytes_from(block, usable - count));
        return (both[0] | both[1]) == 0;
    };
    if (usable >= filled_end_bytes) return ends(std::integral_constant<std::size_t, filled_end_bytes>{});
    if (usable >= 64) return ends(std::integral_constant<std::size_t, 64>{});
    return ends(std::integral_constant<std::size_t, 32>{});
}

/// Fills a freed block past the small ones, within the bounds above.
void fill_larger(void* block, std::size_t usable) noexcept;

/// Offset of the first byte of a freed small block that was written after the free, or `usable`.
[[nodiscard]] std::size_t first_written(const void* block, std::size_t usable) noexcept;

}
