// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What checked builds write behind a block's bytes and into freed ones, to see later who wrote where. Private to this
/// room.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A block of `usable` bytes that was asked for with `bytes`:
//
//   | bytes ... | guard: at least 8 bytes of guard_fill ... | size word |
//
// The size word is the size, mixed with the block's address and a number of the process's own, so that neither a plain
// overrun nor a word copied from another block passes. A freed block is full of freed_fill, the size word included.

constexpr unsigned char guard_fill = 0xFB;
constexpr std::size_t guard_bytes = 16; ///< that a block is asked for more than its user wants
constexpr std::size_t canary_overwritten = SIZE_MAX;

/// Writes guard and size word. Requires  `bytes` + guard_bytes <= `usable`, a multiple of 8.
void arm_guard(void* block, std::size_t usable, std::size_t bytes) noexcept;

/// The size that the block was asked for with; canary_overwritten when the size word was overwritten.
[[nodiscard]] std::size_t guarded_bytes(const void* block, std::size_t usable) noexcept;

/// Whether the guard is as it was written. Requires  `bytes` is what guarded_bytes() said.
[[nodiscard]] bool guard_is_whole(const void* block, std::size_t usable, std::size_t bytes) noexcept;

/// Fills a block that is freed; of one past the small ones, the pages that are in memory.
void fill_freed(void* block, std::size_t usable) noexcept;

/// The first byte of a freed block that was written since, or `usable`.
[[nodiscard]] std::size_t first_written(const void* block, std::size_t usable) noexcept;

}
