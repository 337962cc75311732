// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Guard bytes behind a block and a fill pattern in freed blocks, with which checked builds detect stray writes.
///

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of a block of `usable` bytes that was requested with `bytes`:
//
//   | bytes ... | guard: at least 8 bytes of guard_fill ... | size word |
//
// The size word is a canary: the size, mixed with the block's address and a secret of the process. So neither a plain
// overrun nor a word copied from another block passes. freed_fill fills a freed block and its size word.

constexpr unsigned char guard_fill = 0xFB;
constexpr std::size_t guard_bytes = 16; ///< added to the requested size
constexpr std::size_t canary_overwritten = SIZE_MAX;

/// Writes the guard and the size word.
/// Requires  `bytes` + guard_bytes <= `usable`, a multiple of 8.
void set_guard_canary(void* block, std::size_t usable, std::size_t bytes) noexcept;

/// The requested size of the block; canary_overwritten if the size word was overwritten.
[[nodiscard]] std::size_t guarded_bytes(const void* block, std::size_t usable) noexcept;

/// Whether the guard bytes are unchanged.
/// Requires  `bytes` is the result of guarded_bytes().
[[nodiscard]] bool guard_is_whole(const void* block, std::size_t usable, std::size_t bytes) noexcept;

/// Fills a freed block. In a block past the small ones, fills only resident pages.
void fill_freed(void* block, std::size_t usable) noexcept;

/// Offset of the first byte of a freed block that was written after the free, or `usable`.
[[nodiscard]] std::size_t first_written(const void* block, std::size_t usable) noexcept;

}
