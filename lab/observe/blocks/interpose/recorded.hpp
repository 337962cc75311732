// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the interposed functions tell a recorder. Each library that is built with them defines these functions:
/// blocks/record for libtenure_blocks.so, tracer/record for libtenure_record.so.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tenure::lab::blocks {

/// Which functions of the program allocated.
enum class family : std::uint8_t { malloc, zeroed, aligned, operator_new, aligned_new };

/// What the program has asked for. It fits into two registers.
struct request {
    std::size_t bytes;
    family from = family::malloc;
    std::uint8_t alignment_log2 = 0; ///< zero: none was named
};
static_assert(sizeof(request) == 16);

[[nodiscard]] constexpr request aligned_request(std::size_t bytes, std::size_t alignment, family from) noexcept {
    return {bytes, from, static_cast<std::uint8_t>(alignment == 0 ? 0 : std::countr_zero(alignment))};
}

// Threads   any. They preserve errno.

/// A block was allocated; `block` may be nullptr. operator new calls malloc: its block is noted twice, the second time
/// as what the program asked for.
void note_block(const void* block, request asked) noexcept;

/// operator new is about to allocate.
void begin_new() noexcept;

/// A block is about to be freed. operator delete calls free: its block is forgotten twice.
/// Returns   what note_freed() takes.
[[nodiscard]] std::size_t forget_block(const void* block) noexcept;
/// It was freed.
void note_freed(const void* block, std::size_t before) noexcept;

/// A block is about to be resized; `block` may be nullptr. Once it is moved, another thread may have its address.
/// Returns   what end_resize() takes.
[[nodiscard]] std::uint64_t begin_resize(const void* block) noexcept;
/// `answer` is where the block is now. nullptr: it was freed if `bytes` is zero, and otherwise stays as it was.
void end_resize(std::uint64_t before, const void* block, const void* answer, std::size_t bytes) noexcept;

}
